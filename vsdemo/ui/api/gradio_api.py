"""The endpoints for Gradio's clients and, where the extra `gradio[mcp]` is installed, for MCP."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import Any, Literal

import gradio as gr
from gradio.events import api
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from vsdemo.core.errors import UserError
from vsdemo.serving.request_errors import UNEXPECTED, to_request_error
from vsdemo.ui.api import requests
from vsdemo.ui.api.endpoints import Endpoint, Endpoints

log = logging.getLogger(__name__)


def has_mcp() -> bool:
    """Whether the app can also be a server of MCP tools."""
    return find_spec("mcp") is not None


def add(endpoints: Endpoints) -> None:
    """Add the endpoints to the page that is being built."""
    names = {"model": [*endpoints.library.models], "gallery": [*endpoints.library.galleries]}
    for endpoint in endpoints.all():
        api(_function(endpoint, names), api_name=endpoint.name)


def _function(endpoint: Endpoint, names: dict[str, list[str]]) -> Callable[..., Awaitable[Any]]:
    """Return a function with the parameters of an endpoint, which Gradio reads its types from."""

    async def call(*args: Any, **values: Any) -> Any:
        values |= dict(zip(endpoint.parameters.model_fields, args, strict=False))
        try:
            return _plain(await endpoint.call(requests.read(endpoint.parameters, values)))
        except UserError as error:
            failure = to_request_error(error)
            raise gr.Error(str(failure), title=failure.code, print_exception=False) from None
        except Exception:
            log.exception("/%s failed", endpoint.name)
            raise gr.Error(UNEXPECTED, title="unexpected", print_exception=False) from None

    parameters, lines = [], [endpoint.summary]
    for name, field in endpoint.parameters.model_fields.items():
        default = inspect.Parameter.empty
        if field.default is not PydanticUndefined:
            default = field.default
        kind: Any = field.annotation
        if name in names:
            kind = Literal[("", *names[name])]
        parameters.append(
            inspect.Parameter(
                name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind
            )
        )
        lines.append(f"    {name}: {field.description}")
    if parameters:
        lines.insert(1, "\nArgs:")
    call.__name__, call.__doc__ = endpoint.name, "\n".join(lines)
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        parameters, return_annotation=dict[str, Any]
    )
    call.__annotations__ = {
        **{parameter.name: parameter.annotation for parameter in parameters},
        "return": dict[str, Any],
    }
    return call


def _plain(answer: Any) -> Any:
    """Return an answer as JSON values."""
    if isinstance(answer, BaseModel):
        return answer.model_dump(mode="json")
    return [_plain(item) for item in answer]
