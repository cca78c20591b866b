"""A page for callbacks that are called without a browser."""

from types import SimpleNamespace

PAGE = SimpleNamespace(session_hash="page")  # in place of a gr.Request
