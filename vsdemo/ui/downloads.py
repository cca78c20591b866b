"""What a visitor may fetch from the web, and how far it is: a few quiet lines under "More".

A thing is fetched once at a time, whoever asked for it, and everybody sees how far it is. Where
strangers visit, on a Space, nothing is offered.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Lock, Thread
from typing import Any

import gradio as gr

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data.downloads import fetch
from vsdemo.data.downloads.download import format_size
from vsdemo.serving.access import strangers
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import Update
from vsdemo.ui.components import html
from vsdemo.ui.library import Library

Seen = tuple[str, ...] | None
TICK = 1  # seconds between two looks at what is under way
log = logging.getLogger(__name__)


@dataclass
class Errand:
    """A fetch: how far it is and, once it has ended, what went wrong."""

    what: str = "Fetching"
    done: int = 0  # bytes
    of: int = 0
    ended: bool = False
    problem: str = ""
    cancel: Event = field(default_factory=Event)

    def report(self, what: str, done: int, of: int) -> None:
        """Takes what the core reports while it works."""
        self.what, self.done, self.of = what, done, of


class Fetching:
    """The fetches of an app; what they bring is taken up by its library."""

    def __init__(self, library: Library) -> None:
        self.library = library
        missing = (name for name, thing in fetch.DOWNLOADS.items() if thing.missing)
        self.names = () if strangers() else tuple(missing)
        self.errands = {name: Errand(ended=True) for name in self.names}
        self._taken: tuple[str, ...] = ()
        self._lock = Lock()

    def arrived(self) -> tuple[str, ...]:
        """What has come since the app started; what is new the library takes up."""
        with self._lock:
            ended = (name for name, errand in self.errands.items() if errand.ended)
            found = tuple(name for name in ended if not fetch.find_download(name).missing)
            if found != self._taken:
                self.library.refresh()
                self._taken = found
        return found

    @property
    def busy(self) -> bool:
        """Whether anything is under way."""
        return not all(e.ended for e in self.errands.values())

    def start(self, name: str) -> None:
        """Begins to fetch, or goes on, unless that is under way."""
        with self._lock:
            if self.errands[name].ended:
                errand = self.errands[name] = Errand()
                # As a daemon it never keeps the app from ending; what has come is kept.
                Thread(target=self._run, args=(name, errand), daemon=True).start()

    def stop(self, name: str) -> None:
        """Stops a fetch; what has come is kept."""
        self.errands[name].cancel.set()

    def _run(self, name: str, errand: Errand) -> None:
        try:
            fetch.fetch(name, errand.report, errand.cancel)
            errand.ended = True
            self.arrived()  # also where nobody looks
        except Cancelled:
            pass
        except UserError as error:
            errand.problem = str(error)
        except Exception:
            log.exception("fetching %s failed", name)
            errand.problem = callbacks.UNEXPECTED
        finally:
            errand.ended = True


class FetchPanel:
    """The lines and buttons, for each thing that was not here when the app started."""

    def __init__(self, library: Library, model: gr.Dropdown, gallery: gr.Dropdown) -> None:
        self.fetching = Fetching(library)
        self.model, self.gallery = model, gallery  # these offer what has come
        self.lines, self.starts, self.stops = {}, {}, {}
        for name in self.fetching.names:
            with gr.Row(elem_classes="fetch"):
                self.lines[name] = gr.HTML(_line(name, Errand(ended=True)))
                self.starts[name] = gr.Button("Fetch", elem_classes="chip", size="sm")
                self.stops[name] = gr.Button(
                    "Cancel", elem_classes="chip", size="sm", visible=False
                )
        self.timer = gr.Timer(TICK, active=False)
        self.open = gr.State(False)
        self.seen = gr.State(None)  # what this page has seen come

    def connect(self, demo: gr.Blocks, around: gr.Accordion) -> None:
        """Looks at what is under way while `around` is open, or until it has ended."""
        if not self.fetching.names:
            return
        widgets = (self.lines, self.starts, self.stops)
        outputs = [w for of_one in widgets for w in of_one.values()]
        outputs += [self.timer, self.seen, self.model, self.gallery]
        inputs = [self.open, self.seen]
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        for start in (demo.load, self.timer.tick):
            start(self.look, inputs, outputs, **quiet)
        for start, is_open in ((around.expand, lambda: True), (around.collapse, lambda: False)):
            start(is_open, None, self.open, **quiet).then(self.look, inputs, outputs, **quiet)
        for name in self.fetching.names:
            self.starts[name].click(partial(self.start, name), inputs, outputs, **quiet)
            self.stops[name].click(partial(self.stop, name), inputs, outputs, **quiet)

    def start(self, name: str, is_open: bool, seen: Seen) -> Update:
        """Fetches what the button stands for."""
        self.fetching.start(name)
        return self.look(is_open, seen)

    def stop(self, name: str, is_open: bool, seen: Seen) -> Update:
        """Stops that."""
        self.fetching.stop(name)
        return self.look(is_open, seen)

    def look(self, is_open: bool, seen: Seen) -> Update:
        """How far everything is; when something has come, the drop-downs offer it."""
        library, here = self.fetching.library, self.fetching.arrived()
        active = is_open or self.fetching.busy
        update: Update = {self.timer: gr.Timer(active=active), self.seen: here}
        for name, errand in self.fetching.errands.items():
            update[self.lines[name]] = _line(name, errand)
            offered = errand.ended and name not in here
            update[self.starts[name]] = gr.update(visible=offered)
            update[self.stops[name]] = gr.update(visible=not errand.ended)
        if seen not in (None, here):
            update[self.model] = gr.update(choices=list(library.models))
            update[self.gallery] = gr.update(choices=library.labels)
            for name in set(here).difference(seen) if not is_open else ():
                gr.Info(f"{fetch.find_download(name).title} is here.")
        return update


def _line(name: str, errand: Errand) -> str:
    thing = fetch.find_download(name)
    if not errand.ended:
        what = "Stopping" if errand.cancel.is_set() else errand.what
        return html.progress(f"{what} {thing.title}", errand.done, errand.of, format_size)
    if not thing.missing:
        return html.note(f"{thing.title} is here.")
    come = f"; {format_size(thing.received)} of it are here" if thing.received else ""
    told = html.problem(errand.problem) if errand.problem else ""
    return html.note(f"{thing}{come}.") + told
