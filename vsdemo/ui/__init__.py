"""The app in the browser: composes the page and starts the server. The only user of gradio."""

from __future__ import annotations

import os

# Read when gradio is imported: the app contacts no other host.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from collections.abc import Sequence
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.search.engine import Engine
from vsdemo.serving import desktop
from vsdemo.serving.limits import limits
from vsdemo.ui import gradio_state, installation, theme
from vsdemo.ui.alignment.tab import AlignTab
from vsdemo.ui.api import gradio_api
from vsdemo.ui.api.endpoints import Endpoints
from vsdemo.ui.components import html
from vsdemo.ui.describe.tab import DescribeTab
from vsdemo.ui.hierarchy.tab import HierarchyTab
from vsdemo.ui.layout import TITLE, Page, page_title
from vsdemo.ui.library import Library
from vsdemo.ui.library.pending import Pending
from vsdemo.ui.search.tab import SearchTab
from vsdemo.ui.sentences.tab import SentencesTab
from vsdemo.ui.server import Server, upload_folder
from vsdemo.ui.tabs import Tab
from vsdemo.ui.training.tab import TrainTab

# In the order in which they are shown; see `vsdemo.ui.tabs.Tab`.
TABS: tuple[type[Tab], ...] = (
    SearchTab,
    DescribeTab,
    AlignTab,
    SentencesTab,
    HierarchyTab,
    TrainTab,
)
DEFAULT_PORT = 7860
MAX_UPLOAD = "20mb"


def build(
    library: Library, tabs: Sequence[type[Tab]] = TABS, endpoints: Endpoints | None = None
) -> gr.Blocks:
    """Return the whole page; without a model, a message with instructions.

    Args:
        library: Models, galleries and engines.
        tabs: The tabs, in the order in which they are shown.
        endpoints: What programs may call, if anything.
    """
    demo: gr.Blocks
    with gr.Blocks(title=TITLE, analytics_enabled=False) as demo:
        if library.problem:
            page_title()
            gr.HTML(html.message(library.problem))
        else:
            Page(library, tabs).connect(demo)
            if endpoints:
                gradio_api.add(endpoints)
    demo.queue(default_concurrency_limit=8, max_size=limits().queue)
    gradio_state.poll_slowly(demo)
    return demo


def launch(port: int | None = None, gallery: str | None = None, **options: Any) -> gr.Blocks:
    """Start the app.

    Args:
        port: Port of the server; by default GRADIO_SERVER_PORT or 7860.
        gallery: Data set, captions file or folder of photos to offer first.
        options: Passed to Gradio's own `launch`.

    Raises:
        UserError: If the port is taken or the gallery does not exist.
    """
    library, folder = Library(gallery), upload_folder()
    port = port or int(os.environ.get("GRADIO_SERVER_PORT", DEFAULT_PORT))
    first: Pending[Engine] | None = None
    if not library.problem:  # load the first engine while the browser opens
        name = next(iter(library.galleries))
        first = library.engine(library.default_model(name), name, keep=True)
    endpoints = Endpoints(library)
    demo = build(library, endpoints=endpoints)
    server = Server(
        demo,
        library,
        endpoints,
        folder=folder,
        is_ready=lambda: first is not None and (first.future.done() or first.partial is not None),
    )
    settings = {
        "server_port": port,
        "max_file_size": MAX_UPLOAD,
        "show_error": False,
        "inbrowser": desktop.opens_browser(),
    }
    server.stop_on_sigterm()
    try:
        demo.launch(
            **{**settings, **options},
            theme=theme.theme(),
            css=theme.css(),
            head=theme.head(),
            ssr_mode=False,
            enable_monitoring=False,
            run_history=False,
            footer_links=[],
            pwa=True,
            mcp_server=gradio_api.has_mcp(),
            favicon_path=installation.FAVICON,
            state_session_capacity=limits().sessions,
            app_kwargs=server.options(),
        )
    except OSError:
        raise UserError(f"Port {port} is taken; choose another one with --port.") from None
    return demo
