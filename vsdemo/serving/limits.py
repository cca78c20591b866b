"""How much of a server strangers may use, as set by its owner."""

from __future__ import annotations

import os
from functools import cache
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vsdemo.core.errors import UserError

Model = TypeVar("Model", bound=BaseModel)
PREFIX = "VSDEMO_"
MAX_UPLOAD_MB = 20  # a file; the page says so


class Limits(BaseModel):
    """Limits of a public server. A field is set by a variable: `VSDEMO_UPLOAD_MINUTES=30`."""

    model_config = ConfigDict(frozen=True)

    upload_minutes: Annotated[
        float, Field(gt=0, description="Minutes after which an unused upload is deleted")
    ] = 60
    upload_files: Annotated[int, Field(ge=1, description="Files of an upload")] = 4
    upload_disk_mb: Annotated[
        int, Field(ge=1, description="MB of all uploads; the least recently used are deleted")
    ] = 2_000
    upload_day_mb: Annotated[
        int, Field(ge=1, description="MB that an address uploads in a day")
    ] = 500
    request_mb: Annotated[int, Field(ge=1, description="MB of a request")] = 28
    minute_requests: Annotated[
        int, Field(ge=1, description="Requests of a visitor in a minute")
    ] = 300
    minute_address_requests: Annotated[
        int, Field(ge=1, description="Requests of an address in a minute")
    ] = 1_200
    queue: Annotated[int, Field(ge=1, description="Requests that wait, of all visitors")] = 64
    visitor_queue: Annotated[int, Field(ge=1, description="Requests of a visitor that wait")] = 16
    address_queue: Annotated[int, Field(ge=1, description="Requests of an address that wait")] = 32
    sessions: Annotated[
        int,
        Field(ge=1, description="Pages whose state is kept; the least recently used are released"),
    ] = 500
    session_minutes: Annotated[
        float,
        Field(gt=0, description="Minutes until the state of an unused page is released"),
    ] = 60
    proxies: Annotated[
        int,
        Field(ge=0, description="Proxies in front of the app, which add X-Forwarded-For headers"),
    ] = 0


def from_environment(model: type[Model], prefix: str, **defaults: str) -> Model:
    """Return settings that an owner sets by variables.

    Args:
        model: The settings.
        prefix: Prefix of the variables; the rest of a name is a field in capitals.
        **defaults: Values of fields whose variable is unset.

    Raises:
        UserError: A variable is not valid.
    """
    variables = {name: prefix + name.upper() for name in model.model_fields}
    values = {name: os.environ[v] for name, v in variables.items() if v in os.environ}
    try:
        return model.model_validate(defaults | values)
    except ValidationError as error:
        first = error.errors()[0]
        variable = variables[str(first["loc"][0])]
        raise UserError(f"{variable}={first['input']} is not valid: {first['msg']}.") from None


@cache
def limits() -> Limits:
    """Return the limits that the environment sets, else their defaults.

    Raises:
        UserError: A variable is not valid.
    """
    behind_proxy = {"proxies": "1"} if os.environ.get("SPACE_ID") else {}
    return from_environment(Limits, PREFIX, **behind_proxy)
