"""The endpoints as plain HTTP: POST /api/NAME with JSON, described by /api/openapi.json."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Mount

import vsdemo
from vsdemo.core.errors import UserError
from vsdemo.serving.request_errors import RequestError, to_request_error, unexpected
from vsdemo.ui.api.endpoints import Endpoint, Endpoints
from vsdemo.ui.api.requests import NoParameters, describe_error

PREFIX = "/api"
log = logging.getLogger(__name__)


class Problem(BaseModel):
    """What was wrong with a request."""

    code: str = Field(description="A short name of the error for programs")
    message: str = Field(description="One sentence: what was wrong and what to do")


class ErrorAnswer(BaseModel):
    """The answer to a request that failed."""

    error: Problem


def mount(endpoints: Endpoints) -> Mount:
    """Return the route below which programs call the endpoints."""
    return Mount(PREFIX, app=build(endpoints))


def build(endpoints: Endpoints) -> FastAPI:
    """Return the application with a route for each endpoint."""
    app = FastAPI(
        title="vsdemo",
        version=vsdemo.__version__,
        description="Sentences and photos in one space.",
        docs_url=None,  # these pages load scripts from other hosts
        redoc_url=None,
    )
    for endpoint in endpoints.all():
        _add(app, endpoint)
    app.add_exception_handler(UserError, _answer_user_error)
    app.add_exception_handler(RequestValidationError, _answer_validation_error)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_exception_handler(Exception, _answer_unexpected_error)
    schema = app.openapi

    def openapi() -> dict[str, Any]:
        """Return the schema with the names of the models and galleries that there are now."""
        app.openapi_schema = None
        result = schema()
        names = {
            "model": [*endpoints.library.models],
            "gallery": [*endpoints.library.galleries],
        }
        for kind, record in result["components"]["schemas"].items():
            if kind.endswith("Request"):
                for field, known in names.items():
                    if field in record["properties"]:
                        record["properties"][field]["enum"] = ["", *known]
        return result

    app.openapi = openapi  # type: ignore[method-assign]
    return app


def _add(app: FastAPI, endpoint: Endpoint) -> None:
    handler: Callable[..., Awaitable[Any]]
    if endpoint.parameters is NoParameters:

        async def handler() -> Any:
            return await endpoint.call(NoParameters())

    else:

        async def handler(request: Any) -> Any:
            return await endpoint.call(request)

        handler.__annotations__["request"] = endpoint.parameters
    app.add_api_route(
        f"/{endpoint.name}",
        handler,
        methods=["GET"] if endpoint.parameters is NoParameters else ["POST"],
        response_model=endpoint.answer,
        summary=endpoint.summary,
        operation_id=endpoint.name,
        responses={
            status: {"model": ErrorAnswer}
            for status in (
                HTTPStatus.BAD_REQUEST,
                HTTPStatus.NOT_FOUND,
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                HTTPStatus.TOO_MANY_REQUESTS,
                HTTPStatus.SERVICE_UNAVAILABLE,
            )
        },
    )


def _answer_user_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, UserError)
    return error_response(to_request_error(error))


def _answer_validation_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return error_response(RequestError(describe_error([*error.errors()]), code="invalid"))


def _answer_http_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    code = "invalid" if status == HTTPStatus.BAD_REQUEST else status.name.lower()
    return error_response(RequestError(f"{status.phrase}.", code=code, status=status))


def _answer_unexpected_error(_: Request, error: Exception) -> JSONResponse:
    log.error("a request of the API failed", exc_info=error)
    return error_response(unexpected())


def error_response(error: RequestError) -> JSONResponse:
    """Return the answer to a request that failed."""
    answer = ErrorAnswer(error=Problem(code=error.code, message=str(error)))
    return JSONResponse(answer.model_dump(), status_code=error.status, headers=error.headers)
