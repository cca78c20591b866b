"""The app in the browser: composes the page and starts the server. The only user of gradio."""

from __future__ import annotations

import os
import sys

from vsdemo.serving import offline

os.environ.update(offline.variables())  # before gradio is imported

from collections.abc import Sequence
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.paths import prepare_home
from vsdemo.search.engine import Engine
from vsdemo.serving import desktop, ports, prepare
from vsdemo.serving.limits import limits
from vsdemo.serving.training_limits import training_limits
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
MAX_UPLOAD = "20mb"
SWITCH_INTERVAL = 0.001  # seconds until a thread that computes lets the server send something


def build(
    library: Library, tabs: Sequence[type[Tab]] = TABS, endpoints: Endpoints | None = None
) -> tuple[gr.Blocks, Page | None]:
    """Return the whole page, and its parts; without a model, only a message with instructions.

    Args:
        library: Models, galleries and engines.
        tabs: The tabs, in the order in which they are shown.
        endpoints: What programs may call, if anything.
    """
    demo: gr.Blocks
    page = None
    with gr.Blocks(title=TITLE, analytics_enabled=False) as demo:
        if library.problem:
            page_title()
            gr.HTML(html.message(library.problem))
        else:
            page = Page(library, tabs)
            page.connect(demo)
            if endpoints:
                gradio_api.add(endpoints)
    # For a Space, Gradio adds a header to the page, with a font of Google and data of the Hub.
    demo.space_id = None
    # With ZeroGPU, Gradio's own queue has room for one request.
    demo.queue(default_concurrency_limit=8, max_size=limits().queue)
    gradio_state.poll_slowly(demo)
    gradio_state.close_heartbeats(demo)
    gradio_state.hide_statuses(demo)
    return demo, page


def _open_first(library: Library) -> Pending[Engine] | None:
    """Load the default model over the first gallery; without a model, return None."""
    if library.problem:
        return None
    first = next(iter(library.galleries))
    return library.engine(library.default_model(first), first, keep=True)


def _open_fetched(library: Library) -> None:
    """Offer what was fetched, and load the engine of the gallery that is the first one now."""
    library.refresh()
    _open_first(library)


def launch(port: int | None = None, gallery: str | None = None, **options: Any) -> gr.Blocks:
    """Start the app.

    Args:
        port: Port of the server; by default GRADIO_SERVER_PORT or 7860.
        gallery: Data set, captions file or folder of photos to offer first; by default
            VSDEMO_GALLERY.
        options: Passed to Gradio's own `launch`.

    Raises:
        UserError: If the port is taken, VSDEMO_HOME cannot be written, a limit is not valid, or
            the gallery or a download in VSDEMO_PREPARE does not exist.
    """
    port = ports.choose(port)
    limits()
    training_limits()
    prepare_home()
    wanted = prepare.downloads()
    library, folder = Library(gallery or prepare.gallery()), upload_folder()
    first = _open_first(library)  # while the browser opens
    endpoints = Endpoints(library)
    demo, page = build(library, endpoints=endpoints)
    server = Server(
        demo,
        library,
        endpoints,
        folder=folder,
        is_ready=lambda: first is not None and first.is_usable,
        prepare=page.prepare if page else None,
    )
    settings = {
        "server_port": port,
        "max_file_size": MAX_UPLOAD,
        "show_error": False,
        "inbrowser": desktop.opens_browser(),
    }
    prepare.start(wanted, on_ready=lambda: _open_fetched(library))
    server.stop_on_sigterm()
    sys.setswitchinterval(SWITCH_INTERVAL)
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
