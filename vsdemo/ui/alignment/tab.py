"""The tab Align: which words of a sentence describe which regions of a photo."""

from __future__ import annotations

from collections.abc import Callable, Generator
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
from vsdemo.ui.alignment.state import AlignState, default_caption
from vsdemo.ui.callbacks import NEWEST, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.widgets import (
    chip,
    clickable_html,
    note_html,
    one_line,
    upload_chip,
)
from vsdemo.ui.library import Library

ABOUT = "Choose a photo and type a sentence to see which words describe which region."
PICKS = 8
SIDE = 1280  # pixels
OFF = gr.update(interactive=False)


class AlignTab:
    """The widgets of the tab, and their callbacks."""

    def __init__(self, library: Library) -> None:
        self.library = library
        gr.HTML(html.about(ABOUT))
        with gr.Row(elem_classes="results", elem_id="align"):
            with gr.Column(scale=6, min_width=320, elem_classes="side-column"):
                self.photo = clickable_html("figure")
                with gr.Row(elem_classes="pick"):
                    self.upload = upload_chip()
                    self.other = chip("Other photos")
                self.picks = clickable_html("align-picks")
            with gr.Column(scale=7, min_width=320):
                with gr.Row(elem_classes="query-row"):
                    self.query = one_line(
                        "Sentence to align", "What may be in the photo?", elem_id="align-query"
                    )
                    self.go = gr.Button("Align", variant="primary", scale=0, elem_id="align-go")
                self.captions = clickable_html("photo-captions")
                self.note = note_html(html.note(""))
                self.parts = clickable_html("parts")
                with gr.Row(elem_classes="downloads"):
                    self.png, self.json = _download_button("PNG"), _download_button("JSON")
        self.regions = RegionsPanel(library)
        self.state = gr.State(None)

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change."""
        photo = [self.photo, self.picks, self.query, self.captions, self.note, self.parts]
        return [*photo, self.png, self.json, *self.regions.empty, self.state]

    def guard(self, callback: Callable[..., Updates]) -> Callable[..., Updates]:
        """Return a callback that shows its errors below the sentence."""
        return callbacks.report_errors(self.note, "align")(callback)

    def open(self, state: AlignState | None) -> Updates:
        """Align what waits for the tab to be opened."""
        if state is not None and not state.opened:
            yield from self.offer(state.gallery)
            yield from self.show(state)

    def offer(self, gallery: str) -> Updates:
        """Show some photos of the gallery to pick from."""
        numbers, address, text = yield from callbacks.sample_photos(
            self.library, self.note, gallery, PICKS
        )
        yield {self.picks: html.photo_picks(numbers, address, text, label="Align this photo")}

    def change_settings(self, state: AlignState | None, model: str, gallery: str) -> Updates:
        """Align the same with another model, or the first photo of another gallery."""
        if state is None:
            return
        is_other_gallery = state.gallery != gallery
        if is_other_gallery and state.upload is None:
            state = replace(state, photo=0, text="")
        state = replace(state, model=model, gallery=gallery)
        yield {self.state: state}
        if state.opened:
            if is_other_gallery:
                yield from self.offer(gallery)
            yield from self.show(state)

    def pick(self, state: AlignState | None, event: gr.EventData) -> Updates:
        """Align another photo of the gallery with one of its captions."""
        if state is not None:
            yield from self.change_photo(replace(state, text=""), event)

    def change_photo(self, state: AlignState | None, event: gr.EventData) -> Updates:
        """Align the photo of a region with the same sentence."""
        if state is not None:
            count = len(self.library.galleries[state.gallery].photos)
            number = callbacks.clicked_number(event, count)
            yield from self.show(replace(state, photo=number, upload=None))

    def use_upload(self, path: str | None, state: AlignState | None) -> Updates:
        """Align a visitor's photo with the sentence on the page."""
        if path is not None and state is not None:
            open_photo(path)  # an unreadable photo changes nothing
            yield from self.show(replace(state, upload=str(path), photo=None))

    def run(self, text: str, state: AlignState | None) -> Updates:
        """Align the photo on the page with a typed sentence."""
        if state is not None:
            yield from self._align(replace(state, text=Sentence.from_user(text).text))

    def use_caption(self, state: AlignState | None, event: gr.EventData) -> Updates:
        """Align the photo on the page with one of its captions."""
        if state is not None:
            captions = yield from self._captions(state)
            text = html.tidy(captions[callbacks.clicked_number(event, len(captions))])
            yield {self.query: text}
            yield from self._align(replace(state, text=text))

    def show(self, state: AlignState) -> Updates:
        """Show the photo and its captions at once, and the rest when it is aligned."""
        captions = yield from self._captions(state)
        text = state.text or html.tidy(default_caption(captions))
        state = replace(state, text=text, opened=True, alignment=None)
        yield {
            **self._photo(state, captions),
            self.query: text,
            self.state: state,
            **self.regions.empty,
            self.parts: view.waiting(),
        }
        try:
            yield from self._align(state)
        except UserError:
            yield {self.parts: "", self.png: OFF, self.json: OFF}  # not those of another photo
            raise

    def _align(self, state: AlignState) -> Updates:
        if not state.text:
            yield {
                self.parts: "",
                self.note: html.note("Type a sentence to align."),
                self.png: OFF,
                self.json: OFF,
            }
            return
        named = yield from callbacks.wait_for(
            self.note, self.library.aligner(state.model, state.gallery)
        )
        if not named.reader.can_align:
            yield from self._show_tree(state)
            return
        image = self._open(state)
        yield {self.note: html.progress("Aligning the sentence with the regions of the photo")}
        alignment = named.reader.align(image, state.text)
        captions = yield from self._captions(state)
        state = replace(state, aligned_by=named.model, alignment=alignment)
        name = "a photo of your own" if state.upload else Path(self._path(state)).name
        png, record = state.write(image, name, Path(self.png.GRADIO_CACHE))
        yield {
            **self._photo(state, captions),
            self.state: state,
            **self.regions.empty,
            self.parts: view.parts(alignment, _tree(alignment, state.text)),
            self.note: html.note(state.summary),
            self.png: gr.update(value=png, interactive=True),
            self.json: gr.update(value=record, interactive=True),
        }

    def _show_tree(self, state: AlignState) -> Updates:
        """Show the tree of the sentence where no model can align."""
        state = replace(state, alignment=None)
        captions = yield from self._captions(state)
        tree = parser.load("shipped").parse([state.text])[0]
        yield {
            **self._photo(state, captions),
            self.parts: view.only_tree(tree),
            self.state: state,
            self.png: OFF,
            self.json: OFF,
            **self.regions.empty,
            self.note: html.note(view.only_tree_summary(state.model)),
        }

    def _captions(self, state: AlignState) -> Generator[Update, None, list[str]]:
        """Return the captions of the photo; none for an upload."""
        photos = yield from callbacks.wait_for(self.note, self.library.photos(state.gallery))
        if state.photo is None:
            return []
        return photos.own_captions(min(state.photo, len(photos.photos) - 1))

    def _photo(self, state: AlignState, captions: list[str]) -> Update:
        image = self._open(state)
        if state.photo is not None:
            token = self.library.galleries[state.gallery].token
            address = images.address(token, state.photo, "large")
        else:
            path = images.save_jpeg(image, SIDE, Path(self.png.GRADIO_CACHE))
            address = f"gradio_api/file={quote(path)}"
        alt = captions[0] if captions else "The photo to align"
        return {
            self.photo: view.photo(address, image.size, alt, state.address, state.alignment),
            self.captions: view.captions(captions, state.text),
        }

    def _open(self, state: AlignState) -> Image.Image:
        return open_photo(self._path(state))

    def _path(self, state: AlignState) -> Path | str:
        photos = self.library.galleries[state.gallery].photos
        return state.upload or photos[min(state.photo or 0, len(photos) - 1)]


def _tree(alignment: Alignment, text: str) -> Tree | None:
    """Return the tree of an alignment or, without a parser, none."""
    with suppress(UserError):
        return alignment.tree or parser.load("shipped").parse([text])[0]
    return None


def _download_button(kind: str) -> gr.DownloadButton:
    return gr.DownloadButton(f"Download {kind}", interactive=False, size="sm", elem_classes="chip")


def build(library: Library, gallery: gr.Dropdown) -> AlignTab:
    """Create the tab, and connect the events that concern only this tab."""
    tab = AlignTab(library)
    for event in (tab.go.click, tab.query.submit):
        event(tab.guard(tab.run), [tab.query, tab.state], tab.outputs, **NEWEST)
    offer = callbacks.report_errors(tab.note, "align photos")(tab.offer)
    tab.other.click(offer, [gallery], tab.outputs, **NEWEST)
    tab.picks.select(tab.guard(tab.pick), [tab.state], tab.outputs, **NEWEST)
    tab.regions.hits.select(tab.guard(tab.change_photo), [tab.state], tab.outputs, **NEWEST)
    tab.captions.click(tab.guard(tab.use_caption), [tab.state], tab.outputs, **NEWEST)
    upload_inputs = [tab.upload, tab.state]
    tab.upload.upload(tab.guard(tab.use_upload), upload_inputs, tab.outputs, **NEWEST)
    tab.regions.follow(tab.parts, tab.state)
    tab.note.stop(tab.guard(callbacks.stop(tab.note)), None, tab.note, **NEWEST)
    return tab
