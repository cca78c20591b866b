"""The panel "Add photos …": a folder chooser, the run that indexes it, and the known indexes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.language import message, translate
from vsdemo.search.indexing import proposed_name
from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import GONE, LATEST, QUIET, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import label
from vsdemo.ui.components.widgets import about_html, chip, clickable_html, note_html
from vsdemo.ui.indexing import folders, view
from vsdemo.ui.indexing.folders import FolderList
from vsdemo.ui.indexing.indexes import Indexing, known_indexes

TICK = 1  # seconds between two updates of the progress
ABOUT = message(
    "Choose a folder of photos. They are read once, so that every search is quick. Indexing never "
    "changes, moves or copies them."
)


@dataclass(frozen=True)
class Seen:
    """What a page knows of the runs.

    Attributes:
        job: Number of the last run whose end it has shown; 0 before the first.
        running: Number of the run that it follows; 0 without one.
    """

    job: int = 0
    running: int = 0


@dataclass(frozen=True)
class Indexed:
    """The gallery that a page is to choose.

    Attributes:
        gallery: Its key.
        number: Distinguishes choices of the same gallery.
    """

    gallery: str
    number: int = field(default_factory=count().__next__)


class IndexPanel:
    """The widgets of the panel, and their callbacks.

    The page follows a run while it goes on, even if it was loaded after its start; without a run it
    does no work.

    Args:
        indexing: The indexes of the app.
        gallery: The drop-down that offers them.

    Attributes:
        indexed: Holds the `Indexed` that the page is to choose.
    """

    def __init__(self, indexing: Indexing, gallery: gr.Dropdown) -> None:
        self.indexing, self.gallery = indexing, gallery
        with gr.Accordion(label(view.TITLE), open=False, elem_classes="add-photos") as self.panel:
            about_html(ABOUT, padding=False)
            self.path = gr.Textbox(label=label("Folder"), max_lines=1, elem_id="index-folder")
            self.folders = gr.HTML(
                elem_id="index-folders",
                js_on_load="vsdemo.folders.connect(element, trigger, watch)",
                padding=False,
            )
            with gr.Row(elem_classes="index-row"):
                self.name = gr.Textbox(label=label("Name"), max_lines=1, max_length=64)
                self.go = gr.Button(label("Index"), variant="primary", elem_id="index-go")
            self.note = note_html()
            with gr.Row(elem_classes="index-row"):
                self.status = gr.HTML(elem_id="index-status", padding=False)
                self.cancel = chip(message("Cancel"), visible=False)
            self.indexes = clickable_html("indexes", padding=False)
        self.listed = gr.State(None)  # the `FolderList` that is shown
        self.seen = gr.State(Seen())
        self.indexed = gr.State(None)
        self.timer = gr.Timer(TICK, active=False)

    def connect(self, demo: gr.Blocks) -> None:
        """Connect the events of the panel."""
        guard = callbacks.report_errors(self.note)
        shown = [self.note, self.path, self.folders, self.name, self.listed, self.indexes]
        run = [self.panel, self.status, self.cancel, self.go, self.indexes, self.timer]
        run += [self.seen, self.indexed, self.gallery, self.note]
        self.panel.expand(guard(self.open), self.listed, shown, **QUIET)
        self.path.submit(guard(self.find), [self.path, self.listed], shown, **QUIET)
        self.folders.click(guard(self.enter), self.listed, shown, **LATEST)
        values = [self.path, self.name, self.listed, self.seen]
        self.go.click(guard(self.start), values, run, **QUIET)
        self.cancel.click(guard(self.stop), self.seen, run, **QUIET)
        self.indexes.apply(guard(self.start_again), self.seen, run, **QUIET)
        self.indexes.delete(guard(self.ask), None, [self.note, self.indexes], **QUIET)
        self.indexes.clear(guard(self.keep), None, [self.note, self.indexes], **QUIET)
        removed = [self.note, self.indexes, self.gallery, self.indexed]
        self.indexes.submit(guard(self.remove), self.gallery, removed, **QUIET)
        for event in (demo.load, self.timer.tick):
            event(self.update, self.seen, run, **QUIET)

    def open(self, listed: FolderList | None) -> Updates:
        """Show the folder that was shown before, and the indexes."""
        folder = listed.folder if listed else folders.first_folder()
        yield {**self._shown(folders.list_folder(folder)), self.indexes: self._indexes()}

    def find(self, path: str, listed: FolderList | None) -> Updates:
        """Show the folder whose path was typed."""
        yield self._shown(folders.find_folder(path, listed))

    def enter(self, listed: FolderList | None, event: gr.EventData) -> Updates:
        """Show the folder that was clicked."""
        if listed is None:
            raise UserError(GONE)
        number = callbacks.clicked_number(event, len(listed.choices))
        yield self._shown(folders.list_folder(listed.choices[number].path))

    def start(self, path: str, name: str, listed: FolderList | None, seen: Seen) -> Updates:
        """Index the folder in the text field."""
        folder = folders.find_folder(path, listed)
        if folder.start:
            text = message("There is no folder {path}; choose one from the list.")
            raise UserError(translate(text, path=folder.text))
        self.indexing.start(folder.folder, name.strip())
        yield {self.note: "", **self.update(seen)}

    def start_again(self, seen: Seen, event: gr.EventData) -> Updates:
        """Index the folder of the clicked index again."""
        self.indexing.start_again(callbacks.clicked_name(event))
        yield {self.note: "", **self.update(seen)}

    def stop(self, seen: Seen) -> Updates:
        """Stop the run."""
        self.indexing.stop()
        yield self.update(seen)

    def ask(self, event: gr.EventData) -> Updates:
        """Ask whether to remove the clicked index."""
        yield {self.note: "", self.indexes: self._indexes(callbacks.clicked_name(event))}

    def keep(self) -> Updates:
        """Remove nothing."""
        yield {self.note: "", self.indexes: self._indexes()}

    def remove(self, gallery: str, event: gr.EventData) -> Updates:
        """Remove the clicked index, and choose another gallery if it was the chosen one."""
        library, name = self.indexing.library, callbacks.clicked_name(event)
        self.indexing.remove(name)
        update: Update = {
            self.note: html.note(translate("{name} was removed.", name=name)),
            self.indexes: self._indexes(),
        }
        if gallery in library.galleries:
            update[self.gallery] = gr.update(choices=library.labels)
        else:
            update[self.indexed] = Indexed(next(iter(library.galleries)))
        yield update

    def update(self, seen: Seen) -> Update:
        """Show how far the run is; at its end, let the page choose its gallery."""
        indexing, job = self.indexing, self.indexing.job
        is_busy = indexing.busy
        update: Update = {
            self.panel: gr.update(label=view.title(job)),
            self.cancel: gr.update(visible=is_busy),
            self.go: gr.update(interactive=not is_busy),
            self.timer: gr.Timer(active=is_busy),
        }
        if job is None or job.number == seen.job:
            return update
        update[self.status] = view.status(job)
        if is_busy:
            update[self.seen] = Seen(seen.job, job.number)
            if seen.running != job.number:
                update[self.indexes] = self._indexes()
            return update
        update[self.seen] = Seen(job.number)
        update[self.indexes] = self._indexes()
        update[self.gallery] = gr.update(choices=indexing.library.labels)
        key = indexing.key()
        if job.summary and key and seen.running == job.number:
            update[self.indexed] = Indexed(key)
        return update

    def _shown(self, listed: FolderList) -> Update:
        return {
            self.note: "",
            self.path: listed.text,
            self.folders: view.folders(listed),
            self.name: "" if listed.start else proposed_name(listed.folder),
            self.listed: listed,
        }

    def _indexes(self, removing: str = "") -> str:
        busy = self.indexing.busy
        return view.indexes(known_indexes(), removing=removing, is_busy=busy)
