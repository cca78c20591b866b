"""The events of a run as a file for a spreadsheet."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vsdemo.core.errors import UserError
from vsdemo.plots.curves import csv_text
from vsdemo.training.jobs import jobs


def route() -> Route:
    """Return the route GET /runs/{name}/events.csv; a name is never used as a path."""

    def events(request: Request) -> Response:
        try:
            run = jobs.get_run(request.path_params["name"])
        except UserError:
            return Response(status_code=404)
        headers = {"Content-Disposition": f'attachment; filename="{run.name}.csv"'}
        return Response(csv_text(run.events), media_type="text/csv", headers=headers)

    return Route("/runs/{name}/events.csv", events)
