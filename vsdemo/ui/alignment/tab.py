"""The tab Align: which words of a sentence describe which regions of a photo."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gradio as gr
from PIL import Image

from vsdemo.core.alignment import Alignment
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.language import message, translate
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text import parser
from vsdemo.ui import callbacks, images
from vsdemo.ui.alignment import view
from vsdemo.ui.alignment.comparison import ComparisonPanel
from vsdemo.ui.alignment.regions import RegionsPanel
from vsdemo.ui.alignment.state import AlignState, default_caption
from vsdemo.ui.callbacks import NEWEST, Update, Updates
from vsdemo.ui.components import html, words
from vsdemo.ui.components.labels import label
from vsdemo.ui.components.widgets import (
    about_html,
    chip,
    clickable_html,
    note_html,
    one_line,
    upload_chip,
)
from vsdemo.ui.library import NamedReader
from vsdemo.ui.library.pending import Pending
from vsdemo.ui.tabs import Context, Selection, Visit, is_shown

ABOUT = message("Choose a photo and type a sentence to see which words describe which region.")
DOWNLOADS = (message("Download PNG"), message("Download SVG"), message("Download JSON"))  # FILES
PICKS = 8
SIDE = 1280  # pixels
ALIGNING = message("Aligning the sentence with the regions of the photo")
OFF = gr.update(interactive=False)


class AlignTab:
    """The widgets of the tab, and their callbacks."""

    key: ClassVar = "align"
    title: ClassVar = message("Align")

    def __init__(self, context: Context) -> None:
        self.context, self.library = context, context.library
        about_html(ABOUT)
        with gr.Row(elem_classes="results", elem_id="align"):
            with gr.Column(scale=6, min_width=320, elem_classes="side-column"):
                self.photo = clickable_html("figure")
                with gr.Row(elem_classes="pick"):
                    self.upload = upload_chip()
                    self.other = chip(message("Other photos"))
                self.picks = clickable_html("align-picks")
            with gr.Column(scale=7, min_width=320):
                with gr.Row(elem_classes="query-row"):
                    self.query = one_line(
                        message("Sentence to align"),
                        message("What may be in the photo?"),
                        elem_id="align-query",
                    )
                    self.go = gr.Button(
                        label("Align"), variant="primary", scale=0, elem_id="align-go"
                    )
                self.captions = clickable_html("photo-captions")
                self.words = clickable_html("align-words", padding=False)
                self.note = note_html(html.note(""))
                self.parts = clickable_html("parts")
                with gr.Row(elem_classes="downloads"):
                    self.files = list(map(_download_button, DOWNLOADS))
        self.comparison = ComparisonPanel(self.library, self._path)
        self.regions = RegionsPanel(self.library)
        self.state = gr.State(None)
        self._connect()

    @property
    def inputs(self) -> list[Any]:
        """The widgets whose values `show` takes after the visit."""
        return [self.state]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change."""
        photo = [self.photo, self.picks, self.query, self.captions]
        results = [self.words, self.note, self.parts, *self.files, *self.regions.empty]
        results.append(self.comparison.choice)
        return [*photo, *results, self.state, *self.context.place]

    @property
    def _no_files(self) -> Update:
        return dict.fromkeys(self.files, OFF)

    def _connect(self) -> None:
        guard, outputs, state = self.context.guard(self), self.outputs, [self.state]
        for event in (self.go.click, self.query.submit):
            event(guard(self.run), [self.query, *state], outputs, **NEWEST)
        offer = self.context.guard(self, channel="align photos")(self.offer)
        self.other.click(offer, [self.context.gallery], outputs, **NEWEST)
        self.picks.select(guard(self.pick), state, outputs, **NEWEST)
        self.regions.hits.select(guard(self.change_photo), state, outputs, **NEWEST)
        self.captions.click(guard(self.use_caption), state, outputs, **NEWEST)
        self.words.click(guard(self.correct), state, outputs, **NEWEST)
        self.upload.upload(guard(self.use_upload), [self.upload, *state], outputs, **NEWEST)
        self.regions.follow(self.parts, self.state)
        self.comparison.follow(self.state)
        self.note.stop(guard(callbacks.stop(self.note)), None, self.note, **NEWEST)

    def begin_loading(self, visit: Visit) -> Sequence[Pending[Any]]:
        """Begin to load the photos and the model."""
        photos = self.library.photos(visit.gallery)
        return [photos, self.library.aligner(visit.model, visit.gallery)]

    def show(self, visit: Visit, state: AlignState | None) -> Updates:
        """Align what is selected; without a sentence, the photo with one of its captions."""
        if state is not None and is_shown(visit, state):
            yield self.context.record(state)
            return
        is_same_gallery = state is not None and state.gallery == visit.gallery
        if not is_same_gallery:
            yield from self.offer(visit.gallery)
        yield from self.align(_start(visit, state))

    def offer(self, gallery: str) -> Updates:
        """Show some photos of the gallery to pick from."""
        numbers, address, text = yield from callbacks.sample_photos(
            self.library, self.note, gallery, PICKS
        )
        action = translate("Align this photo")
        yield {self.picks: html.photo_picks(numbers, address, text, label=action)}

    def pick(self, state: AlignState | None, event: gr.EventData) -> Updates:
        """Align another photo of the gallery with one of its captions."""
        if state is not None:
            yield from self.change_photo(replace(state, text=""), event)

    def change_photo(self, state: AlignState | None, event: gr.EventData) -> Updates:
        """Align the photo of a region with the same sentence."""
        if state is not None:
            count = len(self.library.galleries[state.gallery].photos)
            number = callbacks.clicked_number(event, count)
            selection = replace(state.selection, photo=number, gallery=state.gallery, upload=None)
            yield from self.align(replace(state, photo=number, upload=None, selection=selection))

    def use_upload(self, path: str | None, state: AlignState | None) -> Updates:
        """Align a visitor's photo with the sentence on the page."""
        if path is not None and state is not None:
            open_photo(path)  # an unreadable photo changes nothing
            selection = Selection(state.selection.text, upload=str(path))
            yield from self.align(replace(state, upload=str(path), photo=None, selection=selection))

    def run(self, text: str, state: AlignState | None) -> Updates:
        """Align the photo on the page with a typed sentence."""
        if state is not None:
            yield from self._align(_with_sentence(state, Sentence.from_user(text).text))

    def use_caption(self, state: AlignState | None, event: gr.EventData) -> Updates:
        """Align the photo on the page with one of its captions."""
        if state is not None:
            captions = _captions((yield from self._gallery(state)), state)
            text = html.tidy(captions[callbacks.clicked_number(event, len(captions))])
            yield {self.query: text}
            yield from self._align(_with_sentence(state, text))

    def correct(self, state: AlignState | None, event: gr.EventData) -> Updates:
        """Align the sentence after replacing an unread word with the clicked one."""
        if state is not None:
            named = yield from self._aligner(state)
            unread = named.reader.unread_words(state.text)
            text = callbacks.corrected_text(event, state.text, unread)
            yield {self.query: text}
            yield from self._align(_with_sentence(state, text))

    def align(self, state: AlignState) -> Updates:
        """Show the photo and its captions at once, and the rest when it is aligned."""
        gallery = yield from self._gallery(state)
        text = state.text or html.tidy(default_caption(_captions(gallery, state)))
        state = replace(state, text=text, alignment=None, before=None)
        yield {
            **self._photo(state, gallery),
            self.query: text,
            self.state: state,
            **self.context.record(state),
            **self.regions.empty,
            self.words: "",
            self.parts: view.waiting(),
        }
        try:
            yield from self._align(state)
        except UserError:
            yield {self.parts: "", **self._no_files}  # not those of another photo
            raise

    def _align(self, state: AlignState) -> Updates:
        if not state.text:
            yield {
                self.words: "",
                self.parts: "",
                self.note: html.note(translate("Type a sentence to align.")),
                **self._no_files,
            }
            return
        named = yield from self._aligner(state)
        if not named.reader.can_align:
            yield from self._show_tree(state)
            return
        image = self._open(state)
        yield {self.note: html.progress(ALIGNING)}
        alignment = named.reader.align(image, state.text)
        gallery = yield from self._gallery(state)
        is_comparable = state.aligned_by == named.model and state.alignment is not None
        before = state.alignment if is_comparable else None
        if before is not None and before.words == alignment.words:
            before = state.before
        state = replace(state, aligned_by=named.model, alignment=alignment, before=before)
        name = "a photo of your own" if state.upload else Path(self._path(state)).name
        paths = state.write(image, name, Path(self.photo.GRADIO_CACHE))
        yield {
            **self._photo(state, gallery),
            self.state: state,
            **self.context.record(state),
            **self.regions.empty,
            **self.comparison.offer(state),
            self.words: words.unread_words(state.text, named.reader.unread_words(state.text)),
            self.parts: html.note(state.summary)
            + view.parts(alignment, _tree(alignment, state.text)),
            self.note: "",
            **{
                button: gr.update(value=path, interactive=True)
                for button, path in zip(self.files, paths, strict=True)
            },
        }

    def _show_tree(self, state: AlignState) -> Updates:
        """Show the tree of the sentence where no model can align."""
        state = replace(state, alignment=None, before=None)
        gallery = yield from self._gallery(state)
        tree = parser.load("shipped").parse([state.text])[0]
        yield {
            **self._photo(state, gallery),
            self.words: "",
            self.parts: view.only_tree(tree, state.model),
            self.note: "",
            self.state: state,
            **self.context.record(state),
            **self._no_files,
            **self.regions.empty,
        }

    def _aligner(self, state: AlignState) -> Generator[Update, None, NamedReader]:
        return callbacks.wait_for(self.note, self.library.aligner(state.model, state.gallery))

    def _gallery(self, state: AlignState) -> Generator[Update, None, CaptionSet]:
        """Wait for the photos of the gallery and their captions."""
        return callbacks.wait_for(self.note, self.library.photos(state.gallery))

    def _photo(self, state: AlignState, gallery: CaptionSet) -> Update:
        image = self._open(state)
        if state.photo is not None:
            token = self.library.galleries[state.gallery].token
            address = images.address(token, state.photo, "large")
            text = html.photo_text(gallery)(_number(gallery, state.photo))
        else:
            address = images.upload_address(state.upload or "", SIDE, self.photo.GRADIO_CACHE)
            text = html.upload_text(self.context.uploads.sentence(state.upload or ""))
        return {
            self.photo: view.photo(address, image.size, text, state.alignment),
            self.captions: view.captions(_captions(gallery, state), state.text),
        }

    def _open(self, state: AlignState) -> Image.Image:
        return open_photo(self._path(state))

    def _path(self, state: AlignState) -> Path | str:
        photos = self.library.galleries[state.gallery].photos
        return state.upload or photos[min(state.photo or 0, len(photos) - 1)]


def _number(gallery: CaptionSet, photo: int) -> int:
    """Return the number of a photo; that of the last one if it is too high."""
    return min(photo, len(gallery.photos) - 1)


def _captions(gallery: CaptionSet, state: AlignState) -> list[str]:
    """Return the captions of the photo; none for an upload."""
    return [] if state.photo is None else gallery.own_captions(_number(gallery, state.photo))


def _start(visit: Visit, state: AlignState | None) -> AlignState:
    """Return what to align: what is selected, else what was aligned before."""
    selection, photo, text = visit.selection, visit.selection.photo_in(visit.gallery), ""
    if photo is None and not selection.upload:
        photo = state.photo if state is not None and state.gallery == visit.gallery else 0
    if state is None or selection != state.selection:
        text = selection.text
    if state and not text and _photo_of(state) == (selection.upload or (visit.gallery, photo)):
        text = state.text
    return AlignState(
        text, visit.model, visit.gallery, photo, selection.upload, selection=selection
    )


def _photo_of(state: AlignState) -> str | tuple[str, int | None]:
    """Return which photo is on the page."""
    return state.upload or (state.gallery, state.photo)


def _with_sentence(state: AlignState, text: str) -> AlignState:
    """Return the state with a sentence that was chosen."""
    return replace(state, text=text, selection=replace(state.selection, text=text))


def _tree(alignment: Alignment, text: str) -> Tree | None:
    """Return the tree of an alignment or, without a parser, none."""
    with suppress(UserError):
        return alignment.tree or parser.load("shipped").parse([text])[0]
    return None


def _download_button(text: str) -> gr.DownloadButton:
    return gr.DownloadButton(str(label(text)), interactive=False, size="sm", elem_classes="chip")
