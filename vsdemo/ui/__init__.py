"""The app in the browser: composes the page and starts the server. The only user of gradio."""

from __future__ import annotations

import os
import sys

from vsdemo.serving import offline

os.environ.update(offline.variables())  # before gradio is imported

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from vsdemo.core import language
from vsdemo.core.errors import UserError
from vsdemo.core.paths import prepare_home
from vsdemo.search.engine import Engine
from vsdemo.serving import desktop, ports, prepare, running_app
from vsdemo.serving.limits import limits
from vsdemo.serving.training_limits import training_limits
from vsdemo.ui import gradio_state, images, installation, theme
from vsdemo.ui.alignment.tab import AlignTab
from vsdemo.ui.api import gradio_api, rest
from vsdemo.ui.api.endpoints import Endpoints
from vsdemo.ui.backend.page import LOST, PATIENCE, BackendPage
from vsdemo.ui.backend.photos import photo_route
from vsdemo.ui.compare.tab import CompareTab
from vsdemo.ui.components import html, labels
from vsdemo.ui.describe.tab import DescribeTab
from vsdemo.ui.guide import routes as guide
from vsdemo.ui.hierarchy.tab import HierarchyTab
from vsdemo.ui.layout import TITLE, Page, page_title
from vsdemo.ui.library import Library
from vsdemo.ui.library.pending import Pending
from vsdemo.ui.search import results
from vsdemo.ui.search.tab import SearchTab
from vsdemo.ui.sentences.tab import SentencesTab
from vsdemo.ui.server import Server, upload_folder
from vsdemo.ui.tabs import Tab
from vsdemo.ui.training import export
from vsdemo.ui.training.tab import TrainTab

# In the order in which they are shown; see `vsdemo.ui.tabs.Tab`.
TABS: tuple[type[Tab], ...] = (
    SearchTab,
    DescribeTab,
    AlignTab,
    SentencesTab,
    CompareTab,
    HierarchyTab,
    TrainTab,
)
MAX_UPLOAD = "20mb"
NOT_READY = "The first gallery is being prepared."
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
        gradio_state.hide_statuses(demo)
    _set_up(demo)
    return demo, page


def _set_up(demo: gr.Blocks) -> None:
    """Set what every page needs of Gradio."""
    language.follow(labels.page_language)
    # For a Space, Gradio adds a header to the page, with a font of Google and data of the Hub.
    demo.space_id = None
    # With ZeroGPU, Gradio's own queue has room for one request.
    demo.queue(default_concurrency_limit=8, max_size=limits().queue)
    gradio_state.poll_slowly(demo)
    gradio_state.close_heartbeats(demo)


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


def launch(
    port: int | None = None,
    gallery: str | None = None,
    backend: str | None = None,
    **options: Any,
) -> gr.Blocks:
    """Start the app.

    Args:
        port: Port of the server; by default GRADIO_SERVER_PORT or 7860.
        gallery: Data set, captions file or folder of photos to offer first; by default
            VSDEMO_GALLERY.
        backend: Address of an app that answers in place of models of this one; by default
            VSDEMO_BACKEND.
        options: Passed to Gradio's own `launch`.

    Raises:
        UserError: If the port is taken, VSDEMO_HOME cannot be written, a limit is not valid, the
            gallery or a download in VSDEMO_PREPARE does not exist, or the backend is not an
            address.
    """
    port = ports.choose(port)
    limits()
    training_limits()
    prepare_home()
    if backend := backend or running_app.chosen():
        if gallery:
            raise UserError(
                "--gallery cannot be used with --backend; pass it to the backend app instead."
            )
        return _serve(port, *_backend_page(backend), {"mcp_server": False, **options})
    wanted = prepare.downloads()
    library = Library(gallery or prepare.gallery())
    folder = upload_folder()
    first = _open_first(library)  # while the browser opens
    endpoints = Endpoints(library)
    demo, page = build(library, endpoints=endpoints)
    server = Server(
        demo,
        [
            images.route(library.gallery_of),
            *results.routes(),
            export.route(),
            *guide.routes(),
            rest.mount(endpoints),
        ],
        folder=folder,
        problem=lambda: "" if first is not None and first.is_usable else NOT_READY,
        prepare=page.prepare if page else None,
    )
    prepare.start(wanted, on_ready=lambda: _open_fetched(library))
    return _serve(port, demo, server, options)


def _backend_page(address: str) -> tuple[gr.Blocks, Server]:
    """Return a page whose answers come from another app, and its server."""
    app, folder = running_app.RunningApp(address, PATIENCE), upload_folder()
    with gr.Blocks(title=TITLE, analytics_enabled=False) as demo:
        BackendPage(app, TABS).connect(demo)
        gradio_state.hide_statuses(demo)
    _set_up(demo)
    server = Server(
        demo,
        [photo_route(app)],
        folder=folder,
        problem=lambda: "" if app.is_ready else LOST,
    )
    return demo, server


def _serve(port: int, demo: gr.Blocks, server: Server, options: Mapping[str, Any]) -> gr.Blocks:
    """Start the server of a page; raise UserError if the port is taken."""
    settings = {
        "server_port": port,
        "max_file_size": MAX_UPLOAD,
        "show_error": False,
        "inbrowser": desktop.opens_browser(),
        "mcp_server": gradio_api.has_mcp(),
    }
    server.stop_on_sigterm()
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        demo.launch(
            **{**settings, **options},
            theme=theme.theme(),
            css=theme.css(),
            head=theme.head(),
            i18n=labels.translations(),
            ssr_mode=False,
            enable_monitoring=False,
            run_history=False,
            footer_links=[],
            pwa=True,
            favicon_path=installation.FAVICON,
            state_session_capacity=limits().sessions,
            app_kwargs=server.options(),
        )
    except OSError:
        raise UserError(f"Port {port} is taken; choose another one with --port.") from None
    return demo
