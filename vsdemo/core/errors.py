"""The one exception whose message is shown to users."""

from __future__ import annotations


class UserError(ValueError):
    """Invalid input. The message is one sentence that says what is wrong and how to fix it."""
