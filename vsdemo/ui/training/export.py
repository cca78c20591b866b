"""The events of a run as a file for a spreadsheet."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vsdemo.core.errors import UserError
from vsdemo.plots.curves import csv_text
from vsdemo.serving import trainings


def route() -> Route:
    """Return the route GET /runs/{name}/events.csv, for those who may see the run.

    A name is never used as a path.
    """

    def events(request: Request) -> Response:
        try:
            visitor = trainings.visitor_id(request.cookies, session=None)
            run = trainings.get_run(request.path_params["name"], visitor)
        except UserError:
            return Response(status_code=404)
        headers = {"Content-Disposition": f'attachment; filename="{run.name}.csv"'}
        return Response(csv_text(run.events), media_type="text/csv", headers=headers)

    return Route("/runs/{name}/events.csv", events)
