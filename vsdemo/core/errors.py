"""Exceptions whose messages are shown to users."""

from __future__ import annotations


class UserError(ValueError):
    """Invalid input. The message is one sentence that says what is wrong and how to fix it."""


class Cancelled(UserError):
    """The user cancelled a download or a computation."""

    def __init__(self, message: str = "Stopped.") -> None:
        super().__init__(message)
