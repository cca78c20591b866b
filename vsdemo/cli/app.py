"""`app`: start the app."""

from __future__ import annotations

from typing import Annotated

import typer

from vsdemo.cli.options import Gallery
from vsdemo.core import startup


def app(
    port: Annotated[int, typer.Option(help="Port of the web server.")] = 7860,
    gallery: Gallery = None,
    backend: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Use the app at this URL as the backend, such as http://host:7860, instead of "
            "loading models.",
        ),
    ] = None,
) -> None:
    """Start the app in the browser."""
    with startup.importing():
        from vsdemo.ui import launch

    launch(port=port, gallery=gallery, backend=backend)
