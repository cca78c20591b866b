"""The app in the browser: composes the page and starts the server. The one home of gradio."""

from __future__ import annotations

import os

# Read when gradio is imported: the app asks no other host for anything.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.ui import api, images, theme
from vsdemo.ui.components import html
from vsdemo.ui.layout import LINE, TITLE, Page
from vsdemo.ui.library import Library
from vsdemo.ui.training import export

MAX_UPLOAD = "20mb"
IDLE = 0.02  # seconds


def build(library: Library) -> gr.Blocks:
    """The whole page; where there is nothing to show, one sentence that says what to do."""
    with gr.Blocks(title=TITLE, analytics_enabled=False) as demo:
        if library.problem:
            gr.HTML(f"<h1>{TITLE}</h1><p>{LINE}</p>", elem_classes="title")
            gr.HTML(html.message(library.problem))
        else:
            Page(library).connect(demo)
            api.build(library)
    demo.queue(default_concurrency_limit=8)
    # Gradio looks a thousand times a second for something to do, with a tenth of a core that a
    # training in the background could use; it offers no option for that.
    demo._queue.sleep_when_free = IDLE
    return demo


def launch(port: int | None = None, gallery: str | None = None, **options: Any) -> gr.Blocks:
    """Starts the app at `port`, GRADIO_SERVER_PORT or 7860; `gallery` is searched first.

    `options` go to Gradio's own `launch`. Raises UserError when the port is taken or the gallery
    is not there.
    """
    library = Library(gallery)
    port = port or int(os.environ.get("GRADIO_SERVER_PORT", "7860"))
    if not library.problem:  # loads, and draws, while the browser opens
        library.loading(next(iter(library.models)), next(iter(library.galleries)))
    demo = build(library)
    try:
        demo.launch(
            **{"server_port": port, "max_file_size": MAX_UPLOAD, "show_error": False, **options},
            theme=theme.theme(),
            css=theme.css(),
            head=theme.head(),
            ssr_mode=False,
            enable_monitoring=False,
            run_history=False,
            footer_links=[],
            app_kwargs={"routes": [images.route(library.photos), export.route()]},
        )
    except OSError:
        raise UserError(f"Port {port} is taken; choose another one with --port.") from None
    return demo
