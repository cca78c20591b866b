"""The app in the browser: composes the page and starts the server. The only user of gradio."""

from __future__ import annotations

import os

from vsdemo.serving import offline

os.environ.update(offline.variables())  # before gradio is imported

from collections.abc import Sequence
from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.paths import prepare_home
from vsdemo.serving import desktop, ports, prepare
from vsdemo.ui import images, installation, theme
from vsdemo.ui.alignment.tab import AlignTab
from vsdemo.ui.api import gradio_api, rest
from vsdemo.ui.api.endpoints import Endpoints
from vsdemo.ui.components import html
from vsdemo.ui.describe.tab import DescribeTab
from vsdemo.ui.hierarchy.tab import HierarchyTab
from vsdemo.ui.layout import SUBTITLE, TITLE, Page, page_title
from vsdemo.ui.library import Library
from vsdemo.ui.search.tab import SearchTab
from vsdemo.ui.sentences.tab import SentencesTab
from vsdemo.ui.tabs import Tab
from vsdemo.ui.training import export
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
IDLE = 0.02  # seconds
MAX_QUEUE = 64  # requests; more are refused


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
    # For a Space, Gradio adds a header to the page, with a font of Google and data of the Hub.
    demo.space_id = None
    # With ZeroGPU, Gradio's own queue has room for one request.
    demo.queue(default_concurrency_limit=8, max_size=MAX_QUEUE)
    # Gradio polls its queue a thousand times a second, which costs a tenth of a core that a
    # training could use. It has no option for that.
    demo._queue.sleep_when_free = IDLE  # noqa: SLF001
    return demo


def _open_first(library: Library) -> None:
    """Begin to load the engine of the first gallery, with which visitors begin."""
    library.refresh()
    if not library.problem:
        first = next(iter(library.galleries))
        library.engine(library.default_model(first), first, keep=True)


def launch(port: int | None = None, gallery: str | None = None, **options: Any) -> gr.Blocks:
    """Start the app.

    Args:
        port: Port of the server; by default GRADIO_SERVER_PORT or 7860.
        gallery: Data set, captions file or folder of photos to offer first; by default
            VSDEMO_GALLERY.
        options: Passed to Gradio's own `launch`.

    Raises:
        UserError: If the port is taken, VSDEMO_HOME cannot be written, or the gallery or a
            download in VSDEMO_PREPARE does not exist.
    """
    port = ports.choose(port)
    prepare_home()
    wanted = prepare.downloads()
    library = Library(gallery or prepare.gallery())
    _open_first(library)  # while the browser opens
    endpoints = Endpoints(library)
    demo = build(library, endpoints=endpoints)
    settings = {
        "server_port": port,
        "max_file_size": MAX_UPLOAD,
        "show_error": False,
        "inbrowser": desktop.opens_browser(),
    }
    routes = [
        images.route(library.photo_files),
        export.route(),
        rest.mount(endpoints),
        *installation.routes(name=TITLE, description=SUBTITLE),
    ]
    prepare.start(wanted, on_ready=lambda: _open_first(library))
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
            app_kwargs={"routes": routes},
        )
    except OSError:
        raise UserError(f"Port {port} is taken; choose another one with --port.") from None
    return demo
