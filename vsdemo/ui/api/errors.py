"""Errors of requests: one sentence, a code and an HTTP status."""

from __future__ import annotations

from http import HTTPStatus

from vsdemo.core.errors import UserError


class ApiError(UserError):
    """An error of a request.

    Args:
        message: One sentence: what was wrong and what to do.
        code: A short name of the error for programs.
        status: The HTTP status.
        retry_after: Seconds after which to try again; None if that is no use.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.status, self.retry_after = code, status, retry_after


def to_api_error(error: UserError) -> ApiError:
    """Return an error of a request for any error of a user."""
    if isinstance(error, ApiError):
        return error
    return ApiError(str(error), code="invalid")
