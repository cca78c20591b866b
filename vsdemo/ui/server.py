"""The server around the page: its gate, its other routes, and its upkeep."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from vsdemo.core.paths import home
from vsdemo.serving import access, health, request_log, upkeep
from vsdemo.serving.gate import DAY, MB, Gate, path_of
from vsdemo.serving.limits import limits
from vsdemo.serving.uploads import UploadFolder
from vsdemo.ui import gradio_state, installation, theme
from vsdemo.ui.layout import SUBTITLE, TITLE

UPLOADS = "uploads"  # below VSDEMO_HOME
UPLOADS_VARIABLE = "GRADIO_TEMP_DIR"


def upload_folder() -> Path:
    """Let Gradio keep uploads and the copies that pages show below VSDEMO_HOME."""
    return Path(os.environ.setdefault(UPLOADS_VARIABLE, str((home() / UPLOADS).resolve())))


class Server:
    """What a page is served with.

    Args:
        demo: The page.
        routes: What it answers besides the page, its health and its installation.
        folder: Where uploads are kept.
        problem: Returns why no search can be answered yet; empty if it can.
        prepare: Called with the query of each page's address, before its page is there.
    """

    def __init__(
        self,
        demo: gr.Blocks,
        routes: Sequence[BaseRoute],
        *,
        folder: Path,
        problem: Callable[[], str],
        prepare: Callable[[Mapping[str, str]], None] | None = None,
    ) -> None:
        self._demo, self._limits = demo, limits()
        self._uploads = UploadFolder(folder)
        self._prepare = prepare
        self._upkeep = upkeep.Upkeep(self._delete_uploads, self._release_pages)
        self._gate = Gate(
            limits=self._limits,
            uploads=self._uploads,
            is_public=access.is_public(),
            queued=lambda: gradio_state.queued_scopes(demo),
            head=theme.head(),
        )
        self._routes = [
            *routes,
            *health.routes(problem),
            *installation.routes(name=TITLE, description=SUBTITLE),
        ]

    def options(self) -> dict[str, Any]:
        """Return options for Gradio's application."""
        return {
            "routes": self._routes,
            "middleware": [Middleware(self._gate.around), Middleware(self._preparing)],
            "lifespan": self._lifespan,
        }

    def _preparing(self, app: ASGIApp) -> ASGIApp:
        """Return an application that calls `prepare` as soon as a page is requested.

        It takes a browser a second until the page itself says what it shows. Strangers cannot make
        a public server load models this way.
        """

        async def prepare(scope: Scope, receive: Receive, send: Send) -> None:
            is_get = scope["type"] == "http" and scope["method"] == "GET"
            if self._prepare and is_get and path_of(scope) == "/" and not access.is_public():
                query = dict(Request(scope).query_params)
                Thread(target=self._prepare, args=[query], daemon=True).start()
            await app(scope, receive, send)

        return prepare

    def stop_on_sigterm(self) -> None:
        """Let SIGTERM finish the requests that are being answered."""
        upkeep.stop_on_sigterm(self._close, lambda: self._gate.active)

    @asynccontextmanager
    async def _lifespan(self, _: ASGIApp) -> AsyncIterator[None]:
        if request_log.is_enabled():
            request_log.start()
        if access.is_public():
            gradio_state.log_briefly()
        self._upkeep.start()
        try:
            yield
        finally:
            self._upkeep.stop()

    def _close(self) -> None:
        self._gate.is_closing = True

    def _delete_uploads(self) -> None:
        seconds = 60 * self._limits.upload_minutes if access.is_public() else DAY
        self._uploads.delete_old(seconds, self._limits.upload_disk_mb * MB)

    def _release_pages(self) -> None:
        gradio_state.release_unused_pages(self._demo, 60 * self._limits.session_minutes)
