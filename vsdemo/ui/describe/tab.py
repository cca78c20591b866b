"""The tab Describe: a photo, and the sentences that describe it."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.data_classes import ImageData
from PIL import Image

from vsdemo.core.errors import UserError
from vsdemo.core.hits import Hit
from vsdemo.core.images import open_photo
from vsdemo.data import datasets
from vsdemo.search.engine import MAX_K, Reader
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import Answer, Update
from vsdemo.ui.components import html
from vsdemo.ui.library import Library

ABOUT = "Give a photo and read what describes it."
SAYS = "Describe this photo"
PICKS = 8
SENTENCES = 10  # a time
SIDE = 1280  # pixels: what is shown, and sent back, of a photo


def _as_uploaded(self: gr.Image, payload: ImageData | None) -> str | None:
    """The path of an uploaded file, which Gradio has checked to be one of its own uploads.

    Gradio's own `preprocess` would decode the file first, and answer what is no photo, or is too
    large, with a bare "Error".
    """
    return payload.path if payload else None


# For a class that is declared the usual way, Gradio writes a .pyi beside this file at every start.
PhotoInput = ABCMeta.__new__(
    type(gr.Image),
    "PhotoInput",
    (gr.Image,),
    {"__module__": __name__, "is_template": True, "preprocess": _as_uploaded},
)


@dataclass(frozen=True)
class Described:
    """The photo on the page, of the gallery or an upload, and its sentences."""

    model: str
    gallery: str
    photo: int | None = None  # number in `gallery`
    upload: str | None = None
    sentences: tuple[str, ...] = ()

    @property
    def address(self) -> dict[str, str]:
        """What the address bar says; a visitor's own photo is not part of it."""
        values = {"tab": "describe", "model": self.model, "gallery": self.gallery}
        return values if self.photo is None else {**values, "photo": str(self.photo)}


class Caption:
    """Widgets of the tab, and what they do."""

    def __init__(self, library: Library) -> None:
        self.library = library
        gr.HTML(f'<p class="about">{ABOUT}</p>')
        with gr.Row(elem_classes="results"):
            with gr.Column(scale=6, min_width=320):
                self.photo = PhotoInput(
                    type="filepath",
                    sources=["upload", "webcam", "clipboard"],
                    label="Photo to describe",
                    show_label=False,
                    placeholder="Drop a photo here\n- or -\nclick to choose one",
                    buttons=[],
                    elem_id="photo",
                    format="jpeg",
                    height=360,
                )
                with gr.Row(elem_classes="pick"):
                    gr.HTML('<span class="try">or pick one of the gallery</span>')
                    self.other = gr.Button("Other photos", elem_classes="chip", size="sm")
                self.picks = gr.HTML(
                    elem_id="picks", js_on_load="vsdemo.report(element, trigger, watch)"
                )
            with gr.Column(scale=7, min_width=320):
                self.note = gr.HTML(html.note(""), elem_classes="notes")
                self.sentences = gr.HTML(
                    html.lines(SENTENCES),
                    elem_id="sentences",
                    js_on_load="vsdemo.report(element, trigger, watch)",
                )
                self.more = gr.Button("Show more", elem_classes="more", interactive=False)
        self.described = gr.State(None)

    @property
    def outputs(self) -> list[Any]:
        """Every widget that an answer may change."""
        return [self.photo, self.picks, self.note, self.sentences, self.more, self.described]

    def say(self, callback: Callable[..., Answer]) -> Callable[..., Answer]:
        """A callback that tells what went wrong beside the photo."""
        return callbacks.telling(self.note)(callback)

    def offer(self, gallery: str) -> Answer:
        """Puts some photos of the gallery up to pick from."""
        some = yield from callbacks.some(self.library, self.note, gallery, PICKS)
        yield {self.picks: html.picks(*some, SAYS)}

    def changed(self, described: Described | None, model: str, gallery: str) -> Answer:
        """Describes the same photo with another model, or with another gallery's sentences."""
        yield from self.offer(gallery)
        if described is None:
            return
        if described.gallery != gallery and described.upload is None:
            described = Described(model, gallery, photo=0)
        yield from self.show(replace(described, model=model, gallery=gallery))

    def pick(self, model: str, gallery: str, event: gr.EventData) -> Answer:
        """Describes the photo of the gallery that was clicked."""
        number = callbacks.number(event, len(self.library.galleries[gallery].photos))
        yield from self.show(Described(model, gallery, photo=number))

    def upload(
        self, path: str | None, described: Described | None, model: str, gallery: str
    ) -> Answer:
        """Describes a visitor's photo; one that cannot be read gives way to the one before."""
        if path is None:
            return
        try:
            opened = open_photo(path)
        except UserError:
            yield {self.photo: self._saved(self._open(described)) if described else None}
            raise
        yield from self.show(Described(model, gallery, upload=path), opened)

    def show(self, asked: Described, opened: Image.Image | None = None) -> Answer:
        """Fills the page: the photo at once, its sentences when they are ranked."""
        opened = opened or self._open(asked)
        yield {self.photo: self._saved(opened), self.described: asked}
        try:
            yield from self._rank(asked, opened, SENTENCES)
        except UserError as error:
            if asked.photo is None:
                raise
            yield from self._own(asked, asked.photo, error)

    def show_more(self, described: Described | None) -> Answer:
        """Adds as many sentences again to those on the page."""
        if described is not None:
            count = min(len(described.sentences) + SENTENCES, MAX_K)
            yield from self._rank(described, self._open(described), count)

    def _rank(self, asked: Described, opened: Image.Image, count: int) -> Answer:
        where = (self.library, self.note, asked.model, asked.gallery)
        photos = yield from callbacks.photos(*where[:2], asked.gallery)
        if asked.photo is None and (datasets.is_generated(photos.name) or not photos.captions):
            yield from self._read(asked, opened, count)
            return
        engine = yield from callbacks.engine(*where)
        sentences = yield from callbacks.captions(*where)
        if asked.photo is None:
            yield {self.note: html.progress("Looking at the photo", 0, 0)}
            hits, own = engine.describe(opened, count), []
        else:
            hits = engine.describe_photo(asked.photo, count)
            own = engine.gallery.own_captions(asked.photo)
        yield self._ranked(asked, engine, hits, own, len(sentences))

    def _read(self, asked: Described, opened: Image.Image, count: int) -> Answer:
        """Describes a photo from elsewhere with sentences of our own."""
        reading = yield from callbacks.reading(self.library, self.note, asked.model)
        reader = reading.reader.result()
        yield {self.note: html.progress("Looking at the photo", 0, 0)}
        hits = reader.describe(opened, count)
        update = self._ranked(asked, reader, hits, [], len(reader.captions))
        if reading.model != asked.model:
            update[self.note] = html.note(
                f"Best {len(hits):,} of {len(reader.captions):,} sentences by {reading.model}, as "
                f"{asked.model} has only seen drawings."
            )
        yield update

    def _ranked(
        self, asked: Described, by: Reader, hits: list[Hit], own: list[str], of: int
    ) -> Update:
        asked = replace(asked, sentences=tuple(h.item for h in hits))
        return {
            self.note: html.note(f"Best {len(hits):,} of {of:,} sentences."),
            self.sentences: html.sentences(hits, by.score, own, asked.address),
            self.more: gr.update(interactive=len(hits) < min(of, MAX_K)),
            self.described: asked,
        }

    def _own(self, asked: Described, photo: int, why: UserError) -> Answer:
        """Where no sentences can be ranked, those that were written for a photo of the gallery."""
        photos = yield from callbacks.photos(self.library, self.note, asked.gallery)
        asked = replace(asked, sentences=tuple(photos.own_captions(photo)))
        yield {
            self.note: html.note(f"Written for this photo; other sentences have to wait. {why}"),
            self.sentences: html.written(asked.sentences, (), asked.address),
            self.more: gr.update(interactive=False),
            self.described: asked,
        }

    def _saved(self, photo: Image.Image) -> str:
        return images.saved(photo, SIDE, Path(self.photo.GRADIO_CACHE))

    def _open(self, asked: Described) -> Image.Image:
        if asked.upload is not None:
            return open_photo(asked.upload)
        photos = self.library.galleries[asked.gallery].photos
        return open_photo(photos[asked.photo or 0])


def build(library: Library, model: gr.Dropdown, gallery: gr.Dropdown) -> Caption:
    """Places the tab's widgets and ties those that concern only this tab."""
    tab = Caption(library)
    say, quiet = tab.say, {"show_progress": "hidden", "api_visibility": "private"}
    latest = {"trigger_mode": "always_last", **quiet}
    chosen = [model, gallery]
    tab.other.click(say(tab.offer), [gallery], tab.outputs, **quiet)
    tab.picks.select(say(tab.pick), chosen, tab.outputs, **latest)
    # Also a photo from the webcam; `input` fires once more when a photo is taken away.
    tab.photo.upload(say(tab.upload), [tab.photo, tab.described, *chosen], tab.outputs, **latest)
    tab.more.click(say(tab.show_more), [tab.described], tab.outputs, **quiet)
    return tab
