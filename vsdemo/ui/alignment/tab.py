"""The tab Align: which words of a sentence speak of which regions of a photo."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gradio as gr
from PIL import Image

from vsdemo.core.alignment import Alignment
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text import parser
from vsdemo.ui import callbacks, images
from vsdemo.ui.alignment import view
from vsdemo.ui.alignment.regions import RegionsPanel
from vsdemo.ui.alignment.state import Asked
from vsdemo.ui.callbacks import Answer, Update
from vsdemo.ui.components import html as page
from vsdemo.ui.library import Library

ABOUT = "Give a photo and a sentence, and see which words speak of which region."
SAYS = "Align this photo"
PICKS = 8
GLANCE = 12  # words
SIDE = 1280  # pixels
OFF = gr.update(interactive=False)


class Align:
    """Widgets of the tab, and what they do."""

    def __init__(self, library: Library) -> None:
        self.library = library
        gr.HTML(f'<p class="about">{ABOUT}</p>')
        with gr.Row(elem_classes="results", elem_id="align"):
            with gr.Column(scale=6, min_width=320, elem_classes="aside"):
                self.photo = _shown("figure")
                with gr.Row(elem_classes="pick"):
                    self.upload = gr.UploadButton(
                        "Use your own photo", file_types=["image"], elem_classes="chip", size="sm"
                    )
                    self.other = gr.Button("Other photos", elem_classes="chip", size="sm")
                self.picks = _shown("align-picks")
            with gr.Column(scale=7, min_width=320):
                with gr.Row(elem_classes="ask"):
                    self.query = gr.Textbox(
                        label="Sentence to align",
                        show_label=False,
                        container=False,
                        max_lines=1,
                        placeholder="What may be in the photo?",
                        elem_id="align-query",
                    )
                    self.go = gr.Button("Align", variant="primary", scale=0, elem_id="go")
                self.own = _shown("own")
                self.note = gr.HTML(page.note(""), elem_classes="notes")
                self.parts = _shown("parts")
                with gr.Row(elem_classes="downloads"):
                    self.png, self.json = _download("PNG"), _download("JSON")
        self.regions = RegionsPanel(library)
        self.asked = gr.State(None)

    @property
    def outputs(self) -> list[Any]:
        """Every widget that an answer may change."""
        photo = [self.photo, self.picks, self.query, self.own, self.note, self.parts]
        return [*photo, self.png, self.json, *self.regions.empty, self.asked]

    def say(self, callback: Callable[..., Answer]) -> Callable[..., Answer]:
        """A callback that tells what went wrong below the sentence."""
        return callbacks.telling(self.note)(callback)

    def open(self, asked: Asked | None) -> Answer:
        """Aligns what waits to be looked at."""
        if asked is not None and not asked.done:
            yield from self.offer(asked.gallery)
            yield from self.show(asked)

    def offer(self, gallery: str) -> Answer:
        """Puts some photos of the gallery up to pick from."""
        some = yield from callbacks.some(self.library, self.note, gallery, PICKS)
        yield {self.picks: page.picks(*some, SAYS)}

    def changed(self, asked: Asked | None, model: str, gallery: str) -> Answer:
        """Aligns the same with another model, or the first photo of another gallery."""
        if asked is None:
            return
        other = asked.gallery != gallery
        if other and asked.upload is None:
            asked = replace(asked, photo=0, text="")
        asked = replace(asked, model=model, gallery=gallery)
        yield {self.asked: asked}
        if asked.done:  # otherwise it waits until somebody looks
            if other:
                yield from self.offer(gallery)
            yield from self.show(asked)

    def pick(self, asked: Asked | None, event: gr.EventData) -> Answer:
        """Aligns another photo of the gallery, with what was written for it."""
        if asked is not None:
            yield from self.look(replace(asked, text=""), event)

    def look(self, asked: Asked | None, event: gr.EventData) -> Answer:
        """Aligns the photo of a region that was found, with the same sentence."""
        if asked is not None:
            number = callbacks.number(event, len(self.library.galleries[asked.gallery].photos))
            yield from self.show(replace(asked, photo=number, upload=None))

    def take(self, path: str | None, asked: Asked | None) -> Answer:
        """Aligns a visitor's own photo with the sentence on the page."""
        if path is not None and asked is not None:
            open_photo(path)  # one that cannot be read changes nothing
            yield from self.show(replace(asked, upload=str(path), photo=None))

    def run(self, text: str, asked: Asked | None) -> Answer:
        """Aligns the photo on the page with a sentence that was typed."""
        if asked is not None:
            yield from self._align(replace(asked, text=Sentence.from_user(text).text))

    def use(self, asked: Asked | None, event: gr.EventData) -> Answer:
        """Aligns the photo on the page with one of its captions."""
        if asked is not None:
            own = yield from self._written(asked)
            text = page.tidy(own[callbacks.number(event, len(own))])
            yield {self.query: text}
            yield from self._align(replace(asked, text=text))

    def show(self, asked: Asked) -> Answer:
        """Fills the page: the photo and its captions at once, the rest when it is aligned."""
        own = yield from self._written(asked)
        text = asked.text or page.tidy(_telling(own))
        asked = replace(asked, text=text, done=True, alignment=None)
        yield {
            **self._photo(asked, own),
            self.query: text,
            self.asked: asked,
            **self.regions.empty,
            self.parts: view.waiting(),
        }
        try:
            yield from self._align(asked)
        except UserError:
            # Rather nothing than what belongs to another photo.
            yield {self.parts: "", self.png: OFF, self.json: OFF}
            raise

    def _align(self, asked: Asked) -> Answer:
        if not asked.text:
            yield {self.parts: "", self.note: page.note("Type a sentence to align.")}
            yield {self.png: OFF, self.json: OFF}
            return
        reading = yield from callbacks.aligning(self.library, self.note, asked.model, asked.gallery)
        reader, opened = reading.reader.result(), self._open(asked)
        if not reader.can_align:
            yield from self._only_tree(asked)
            return
        yield {self.note: page.progress("Looking at the regions of the photo", 0, 0)}
        found = reader.align(opened, asked.text)
        own = yield from self._written(asked)
        asked = replace(asked, by=reading.model, alignment=found)
        name = Path(self._path(asked)).name if asked.upload is None else "a photo of your own"
        png, record = asked.write(opened, name, Path(self.png.GRADIO_CACHE))
        yield {
            **self._photo(asked, own),
            self.asked: asked,
            **self.regions.empty,
            self.parts: view.parts(found, _tree(found, asked.text)),
            self.note: page.note(asked.summary),
            self.png: gr.update(value=png, interactive=True),
            self.json: gr.update(value=record, interactive=True),
        }

    def _only_tree(self, asked: Asked) -> Answer:
        asked = replace(asked, alignment=None)
        own, tree = (yield from self._written(asked)), parser.load("shipped").parse([asked.text])[0]
        yield {
            **self._photo(asked, own),
            self.parts: view.only_tree(tree),
            self.asked: asked,
            self.png: OFF,
            self.json: OFF,
            **self.regions.empty,
            self.note: page.note(
                f"Only the tree of the sentence: {asked.model} has one point for a whole photo, so "
                "no word leads to a region, and no other model here has regions."
            ),
        }

    def _written(self, asked: Asked) -> Any:
        photos = yield from callbacks.photos(self.library, self.note, asked.gallery)
        last = len(photos.photos) - 1
        return [] if asked.photo is None else photos.own_captions(min(asked.photo, last))

    def _photo(self, asked: Asked, own: list[str]) -> Update:
        opened = self._open(asked)
        if asked.photo is not None:
            address = self._source(asked)(asked.photo, "large")
        else:
            folder = Path(self.png.GRADIO_CACHE)
            address = f"gradio_api/file={quote(images.saved(opened, SIDE, folder))}"
        alt = own[0] if own else "The photo to align"
        html = view.photo(address, opened.size, alt, asked.address, asked.alignment)
        return {self.photo: html, self.own: view.captions(own, asked.text)}

    def _source(self, asked: Asked) -> page.Source:
        return images.source(self.library.galleries[asked.gallery].token)

    def _open(self, asked: Asked) -> Image.Image:
        return open_photo(self._path(asked))

    def _path(self, asked: Asked) -> Path | str:
        photos = self.library.galleries[asked.gallery].photos
        return asked.upload or photos[min(asked.photo or 0, len(photos) - 1)]


def _telling(own: list[str]) -> str:
    """The longest caption that can be taken in at a glance; else the first, if there is one."""
    short = [text for text in own if len(text.split()) <= GLANCE]
    return max(short or own[:1], key=len, default="")


def _tree(alignment: Alignment, text: str) -> Tree | None:
    """That of the model, or what the parser reads; None where there is neither."""
    with suppress(UserError):
        return alignment.tree or parser.load("shipped").parse([text])[0]
    return None


def _shown(name: str) -> gr.HTML:
    return gr.HTML("", elem_id=name, js_on_load="vsdemo.report(element, trigger, watch)")


def _download(kind: str) -> gr.DownloadButton:
    return gr.DownloadButton(f"Download {kind}", interactive=False, size="sm", elem_classes="chip")


def build(library: Library, gallery: gr.Dropdown) -> Align:
    """Places the tab's widgets and ties those that concern only this tab."""
    tab = Align(library)
    say, quiet = tab.say, {"show_progress": "hidden", "api_visibility": "private"}
    latest = {"trigger_mode": "always_last", **quiet}
    for start in (tab.go.click, tab.query.submit):
        start(say(tab.run), [tab.query, tab.asked], tab.outputs, **latest)
    tab.other.click(say(tab.offer), [gallery], tab.outputs, **quiet)
    tab.picks.select(say(tab.pick), [tab.asked], tab.outputs, **latest)
    tab.regions.found.select(say(tab.look), [tab.asked], tab.outputs, **latest)
    tab.own.click(say(tab.use), [tab.asked], tab.outputs, **latest)
    tab.upload.upload(say(tab.take), [tab.upload, tab.asked], tab.outputs, **latest)
    tab.regions.follow(tab.parts, tab.asked)
    return tab
