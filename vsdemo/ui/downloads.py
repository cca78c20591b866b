"""Downloads in the app: a few quiet lines under "More", with progress for every visitor.

A download runs once at a time, no matter how many visitors started it. On a public server nothing
is offered.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Lock, Thread

import gradio as gr
from markupsafe import Markup

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.language import message, number, translate
from vsdemo.core.paths import shorten_paths
from vsdemo.data.downloads import fetch, unpack
from vsdemo.models.pretrained import make_fetched
from vsdemo.serving.access import is_public
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import LATEST, QUIET, Update
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import static
from vsdemo.ui.components.widgets import chip
from vsdemo.ui.library import Library

Names = tuple[str, ...]
TICK = 1  # seconds between two updates of the progress
STAGES = {
    fetch.STAGE: message("Fetching {title}"),
    unpack.STAGE: message("Unpacking {title}"),
}
log = logging.getLogger(__name__)


@dataclass
class Download:
    """How far a download is and, once it has ended, its error."""

    stage: str = fetch.STAGE
    done: int = 0  # bytes
    total: int = 0
    ended: bool = False
    problem: str = ""
    cancel: Event = field(default_factory=Event)

    def report(self, stage: str, done: int, total: int) -> None:
        """Set the progress; a `vsdemo.core.progress.StageProgress`."""
        self.stage, self.done, self.total = stage, done, total


class Downloads:
    """The downloads of an app; the library offers what they bring."""

    def __init__(self, library: Library) -> None:
        self.library = library
        missing = (name for name, item in fetch.DOWNLOADS.items() if item.missing)
        self.names: Names = () if is_public() else tuple(missing)
        self.states = {name: Download(ended=True) for name in self.names}
        self._completed: Names = ()
        self._lock = Lock()

    def completed(self) -> Names:
        """Return what was downloaded since the app started, and let the library offer it."""
        with self._lock:
            ended = (name for name, state in self.states.items() if state.ended)
            completed = tuple(name for name in ended if not fetch.find_download(name).missing)
            if completed != self._completed:
                self.library.refresh()
                self._completed = completed
        return completed

    @property
    def busy(self) -> bool:
        """Whether a download is running."""
        return not all(state.ended for state in self.states.values())

    def start(self, name: str) -> None:
        """Start or resume a download, unless it is running."""
        with self._lock:
            if self.states[name].ended:
                state = self.states[name] = Download()
                # A daemon does not keep the app from ending; a partial file can be resumed.
                Thread(target=self._run, args=(name, state), daemon=True).start()

    def stop(self, name: str) -> None:
        """Stop a download; it can be resumed."""
        self.states[name].cancel.set()

    def _run(self, name: str, state: Download) -> None:
        try:
            fetch.fetch(name, state.report, state.cancel)
            make_fetched(fetch.find_download(name))
            state.ended = True
            self.completed()  # even if no page polls
        except Cancelled:
            pass
        except UserError as error:
            state.problem = shorten_paths(str(error))
        except Exception:
            log.exception("downloading %s failed", name)
            state.problem = callbacks.UNEXPECTED
        finally:
            state.ended = True


class DownloadPanel:
    """A line and buttons for each download that was missing when the app started.

    The list of models, which also offers what was downloaded, is made when it is opened.

    Args:
        downloads: The downloads of the app.
        gallery: The drop-down that offers what was downloaded.

    Attributes:
        seen: Holds the names of the downloads that the page knows to be complete.
    """

    def __init__(self, downloads: Downloads, gallery: gr.Dropdown) -> None:
        self.downloads, self.gallery = downloads, gallery
        self.lines: dict[str, gr.HTML] = {}
        self.start_buttons: dict[str, gr.Button] = {}
        self.stop_buttons: dict[str, gr.Button] = {}
        for name in self.downloads.names:
            with gr.Row(elem_classes="fetch"):
                self.lines[name] = gr.HTML(static(partial(_line, name, Download(ended=True))))
                self.start_buttons[name] = chip(message("Fetch"))
                self.stop_buttons[name] = chip(message("Cancel"), visible=False)
        self.timer = gr.Timer(TICK, active=False)
        self.open = gr.State(False)
        self.seen = gr.State(None)

    def connect(self, demo: gr.Blocks, around: gr.Accordion) -> None:
        """Update the lines while `around` is open, or until every download has ended."""
        if not self.downloads.names:
            return
        outputs = [
            *self.lines.values(),
            *self.start_buttons.values(),
            *self.stop_buttons.values(),
            self.timer,
            self.seen,
            self.gallery,
        ]
        inputs = [self.open, self.seen]
        around.expand(lambda: True, None, self.open, **QUIET)
        around.collapse(lambda: False, None, self.open, **QUIET)
        # One listener, as the answers of two can change places.
        gr.on(
            [demo.load, self.timer.tick, self.open.change], self.update, inputs, outputs, **LATEST
        )
        for name in self.downloads.names:
            self.start_buttons[name].click(partial(self.start, name), inputs, outputs, **QUIET)
            self.stop_buttons[name].click(partial(self.stop, name), inputs, outputs, **QUIET)

    def start(self, name: str, is_open: bool, seen: Names | None) -> Update:  # noqa: FBT001 (a widget's value)
        """Start the download of a button."""
        self.downloads.start(name)
        return self.update(is_open, seen)

    def stop(self, name: str, is_open: bool, seen: Names | None) -> Update:  # noqa: FBT001 (a widget's value)
        """Stop the download of a button."""
        self.downloads.stop(name)
        return self.update(is_open, seen)

    def update(self, is_open: bool, seen: Names | None) -> Update:  # noqa: FBT001 (a widget's value)
        """Show the progress, and offer what was downloaded in the drop-down."""
        library, completed = self.downloads.library, self.downloads.completed()
        active = is_open or self.downloads.busy
        update: Update = {self.timer: gr.Timer(active=active), self.seen: completed}
        for name, state in self.downloads.states.items():
            offered = state.ended and name not in completed
            update[self.lines[name]] = _line(name, state)
            update[self.start_buttons[name]] = gr.update(visible=offered)
            update[self.stop_buttons[name]] = gr.update(visible=not state.ended)
        if seen is not None and seen != completed:
            update[self.gallery] = gr.update(choices=library.labels)
            if not is_open:
                for name in set(completed).difference(seen):
                    gr.Info(_available(name))
        return update


def progress(name: str, state: Download) -> Markup:
    """Return how far a download is that has not ended."""
    text = message("Stopping {title}") if state.cancel.is_set() else STAGES[state.stage]
    label = translate(text, title=fetch.find_download(name).title)
    return html.progress(label, state.done, state.total, count=size_text)


def size_text(size: int) -> str:
    """Return a number of bytes as `format_size` does, in the language of the page."""
    if size >= 999_500_000:
        return f"{number(size / 1e9, 1)} GB"
    return f"{number(size / 1e6)} MB" if size >= 999_500 else f"{number(size / 1e3)} kB"


def _line(name: str, state: Download) -> Markup:
    """Return how far a download is, or what it would bring."""
    if not state.ended:
        return progress(name, state)
    item = fetch.find_download(name)
    if not item.missing:
        return html.note(_available(name))
    needs = translate("needs the package {package}", package=item.package) if item.package else ""
    parts = [translate(item.about), size_text(item.size), translate(item.terms), needs]
    text = f"{item.title}: {', '.join(part for part in parts if part)}"
    if item.received:
        text = translate("{text}; {size} downloaded", text=text, size=size_text(item.received))
    line = html.note(f"{text}.")
    return line + html.problem(translate(state.problem)) if state.problem else line


def _available(name: str) -> str:
    return translate("{title} is available.", title=fetch.find_download(name).title)
