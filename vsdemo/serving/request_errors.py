"""Errors of requests: one sentence, a code and an HTTP status."""

from __future__ import annotations

from http import HTTPStatus
from math import ceil

from vsdemo.core.errors import UserError
from vsdemo.core.paths import shorten_paths

UNEXPECTED = "Something went wrong in the app; try again."


class RequestError(UserError):
    """An error of a request.

    Args:
        message: One sentence: what was wrong and what to do.
        code: A short name of the error for programs.
        status: The HTTP status.
        retry_after: Seconds after which to try again; None if that does not help.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.status, self.retry_after = code, status, retry_after

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer."""
        return {} if self.retry_after is None else {"Retry-After": str(ceil(self.retry_after))}


def to_request_error(error: UserError) -> RequestError:
    """Return an error of a request for any error of a user."""
    if isinstance(error, RequestError):
        return error
    return RequestError(shorten_paths(str(error)), code="invalid")


def unexpected() -> RequestError:
    """Return the error of a request that has failed for a reason of the app."""
    return RequestError(UNEXPECTED, code="unexpected", status=HTTPStatus.INTERNAL_SERVER_ERROR)
