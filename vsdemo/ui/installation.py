"""Lets a browser install the page as an app of a desktop or phone: its manifest and icons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from vsdemo.core import language
from vsdemo.ui import theme

ICONS = Path(__file__).parent / "static" / "icons"
FAVICON = ICONS / "icon.svg"


def manifest(*, name: str, description: str) -> dict[str, Any]:
    """Return the web app manifest in the current language.

    Its addresses are relative, so that any root path works.
    """
    return {
        "name": name,
        "short_name": name,
        "description": language.translate(description),
        "lang": language.current(),
        "id": "./",
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        "theme_color": theme.TOKENS["accent"][0],
        "background_color": theme.TOKENS["paper"][0],
        "icons": [
            _icon("icon.svg", sizes="any", kind="image/svg+xml"),
            _icon("icon-192.png", sizes="192x192"),
            _icon("icon-512.png", sizes="512x512"),
            _icon("maskable-512.png", sizes="512x512", purpose="maskable"),
        ],
    }


def _icon(
    file: str, *, sizes: str, kind: str = "image/png", purpose: str = "any"
) -> dict[str, str]:
    return {"src": f"icons/{file}", "sizes": sizes, "type": kind, "purpose": purpose}


def routes(*, name: str, description: str) -> list[BaseRoute]:
    """Return the routes GET /manifest.json, instead of Gradio's own, and GET /icons/{file}."""

    def send(request: Request) -> Response:
        with language.speaking(language.preferred(request.headers.get("accept-language", ""))):
            content = manifest(name=name, description=description)
        headers = {"Vary": "Accept-Language"}
        return JSONResponse(content, headers=headers, media_type="application/manifest+json")

    return [
        Route("/manifest.json", send),
        Mount("/icons", StaticFiles(directory=ICONS)),
    ]
