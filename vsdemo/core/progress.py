"""Callbacks through which long operations report how far they are."""

from __future__ import annotations

from collections.abc import Callable

# Called with (done, total), in items or bytes; total is 0 while it is unknown.
Progress = Callable[[int, int], None]

# Called with (stage, done, total), where stage is a word such as "Unpacking".
StageProgress = Callable[[str, int, int], None]
