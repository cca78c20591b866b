"""The tab Describe: a photo, and the sentences that describe it."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gradio as gr
from gradio.data_classes import ImageData
from markupsafe import Markup
from PIL import Image

from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.language import message, translate
from vsdemo.data import datasets
from vsdemo.models.scores import Score
from vsdemo.search.engine import MAX_K
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import NEWEST, QUIET, Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import label, static
from vsdemo.ui.components.widgets import (
    about_html,
    chip,
    clickable_html,
    image_text_html,
    note_html,
)
from vsdemo.ui.describe import view
from vsdemo.ui.describe.composed import ComposedPanel
from vsdemo.ui.describe.state import DescribeState, Ranking, typed_sentences
from vsdemo.ui.library.pending import Pending
from vsdemo.ui.tabs import Context, Selection, Visit, is_shown
from vsdemo.ui.uploads import is_uploaded

ABOUT = message("Choose a photo and read the sentences that describe it.")
PICKS = 8
SENTENCES = 10  # at a time
SIDE = 1280  # pixels of the photo on the page
LOOKING = message("Encoding the photo")
OWN = message("Rank your own words or sentences")
OWN_LABEL = message("One per line; without any, the tab ranks its own sentences again")
OWN_EXAMPLE = "a dog\na cat\nsomething else"


def _uploaded_path(self: gr.Image, payload: ImageData | None) -> str | None:
    """Return the path of an uploaded file. Raises gr.Error for any other file of the server.

    Gradio's own `preprocess` would decode the file first, and answer a broken or too large one with
    a bare "Error".
    """
    if payload is None or payload.path is None:
        return None
    if not is_uploaded(payload.path):
        raise gr.Error("This file was not uploaded.", print_exception=False)
    return payload.path


# For a class that is declared the usual way, Gradio writes a .pyi next to this file at every start.
PhotoInput = ABCMeta.__new__(
    type(gr.Image),
    "PhotoInput",
    (gr.Image,),
    {"__module__": __name__, "is_template": True, "preprocess": _uploaded_path},
)


def photo_input() -> tuple[Any, gr.HTML]:
    """Return where a visitor gives a photo, and what gives it its alternative text."""
    photo = PhotoInput(
        type="filepath",
        sources=["upload", "webcam", "clipboard"],
        label=label("Photo to describe"),
        show_label=False,
        placeholder=str(label("Drop a photo here\n- or -\nclick to choose one")),
        buttons=[],
        elem_id="photo",
        format="jpeg",
        height=360,
    )
    return photo, image_text_html("photo")


class DescribeTab:
    """The widgets of the tab, and their callbacks."""

    key: ClassVar = "describe"
    title: ClassVar = message("Describe")

    def __init__(self, context: Context) -> None:
        self.context, self.library = context, context.library
        about_html(ABOUT)
        with gr.Row(elem_classes="results"):
            with gr.Column(scale=6, min_width=320):
                self.photo, self.photo_text = photo_input()
                with gr.Row(elem_classes="pick"):
                    self.similar = chip(message("Find similar photos"))
                with gr.Row(elem_classes="pick"):
                    gr.HTML(static(view.pick_label))
                    self.other = chip(message("Other photos"))
                self.picks = clickable_html("picks")
            with gr.Column(scale=7, min_width=320):
                self.note = note_html(html.note(""))
                self.sentences = clickable_html("sentences", html.grey_lines(SENTENCES))
                self.more = gr.Button(label("Show more"), elem_classes="more", interactive=False)
                self.composed = ComposedPanel(self.library, self._open)
                with gr.Accordion(label(OWN), open=False, elem_id="own-sentences"):
                    self.typed = gr.Textbox(
                        lines=3, max_lines=8, label=label(OWN_LABEL), placeholder=OWN_EXAMPLE
                    )
                    self.rank = gr.Button(label("Rank them"), elem_classes="more")
        self.state = gr.State(None)
        self.offered = gr.State("")  # key of the gallery whose photos are offered
        self._connect()

    @property
    def inputs(self) -> list[Any]:
        """The widgets whose values `show` takes after the visit."""
        return [self.state]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change."""
        results = [self.note, self.sentences, self.more, self.state, *self.context.place]
        photo = [self.photo, self.photo_text, self.picks, self.offered]
        return [*photo, *results, *self.composed.outputs]

    def _connect(self) -> None:
        context, outputs = self.context, self.outputs
        guard, inputs = context.guard(self), [self.state, context.model, context.gallery]
        picking = [*inputs, self.offered]
        offer = context.guard(self, channel="describe photos")(self.offer)
        self.other.click(offer, [context.gallery], outputs, **NEWEST)
        self.picks.select(guard(self.pick), picking, outputs, **NEWEST)
        # `upload` also fires for the webcam; `input` would fire when a photo is removed, too.
        self.photo.upload(guard(self.upload), [self.photo, *inputs], outputs, **NEWEST)
        self.more.click(guard(self.show_more), [self.state], outputs, **NEWEST)
        self.rank.click(guard(self.rank_typed), [self.typed, self.state], outputs, **NEWEST)
        self.composed.follow(self.state)
        self.note.stop(guard(callbacks.stop(self.note)), None, self.note, **NEWEST)
        guard, navigation = context.guard(self, channel=""), [self.note, *context.navigation]
        self.similar.click(guard(self.search_similar), [self.state], navigation, **QUIET)
        self.sentences.click(guard(self.search_sentence), [self.state], navigation, **QUIET)
        self.sentences.apply(guard(self.align_sentence), [self.state], navigation, **QUIET)
        composed = [self.state, self.composed.texts]
        self.composed.sentences.apply(guard(self.align_composed), composed, navigation, **QUIET)

    def search_sentence(self, state: DescribeState | None, event: gr.EventData) -> Updates:
        """Search for the photos that the clicked sentence describes."""
        if state is not None:
            text = _clicked_sentence(state, event)
            yield self.context.go("search", replace(state.selection, text=text, photo=None))

    def search_similar(self, state: DescribeState | None) -> Updates:
        """Search for photos that are similar to this one."""
        if state is not None:
            shown = Selection("", state.photo, state.gallery, state.upload)
            yield self.context.go("search", shown.similar)

    def align_sentence(self, state: DescribeState | None, event: gr.EventData) -> Updates:
        """Align the clicked sentence with the photo."""
        if state is not None:
            text = _clicked_sentence(state, event)
            selection = Selection(text, state.photo, state.gallery, state.upload)
            yield self.context.go("align", selection)

    def align_composed(
        self, state: DescribeState | None, texts: tuple[str, ...], event: gr.EventData
    ) -> Updates:
        """Align the clicked sentence, which was composed, with the photo."""
        if state is not None:
            text = texts[callbacks.clicked_number(event, len(texts))]
            yield self.context.go(
                "align", Selection(text, state.photo, state.gallery, state.upload)
            )

    def offer(self, gallery: str) -> Updates:
        """Show some photos of the gallery to pick from."""
        numbers, address, text = yield from callbacks.sample_photos(
            self.library, self.note, gallery, PICKS
        )
        action = translate("Describe this photo")
        picks = html.photo_picks(numbers, address, text, label=action)
        yield {self.picks: picks, self.offered: gallery}

    def begin_loading(self, visit: Visit) -> Sequence[Pending[Any]]:
        """Begin to load the photos, the model and the captions that it has encoded."""
        library, place = self.library, (visit.model, visit.gallery)
        return [library.photos(visit.gallery), library.engine(*place), library.captions(*place)]

    def show(self, visit: Visit, state: DescribeState | None) -> Updates:
        """Describe the selected photo, else the same as before or the first of the gallery."""
        if state is not None and is_shown(visit, state):
            yield self.context.record(state)
            return
        selection, photo = visit.selection, visit.selection.photo_in(visit.gallery)
        upload = selection.upload
        is_same_gallery = state is not None and state.gallery == visit.gallery
        if not is_same_gallery:
            yield from self.offer(visit.gallery)
        if upload is None and photo is None:
            photo = state.photo if state is not None and is_same_gallery else 0
        typed = state.typed if state is not None else ()
        yield from self.describe(
            DescribeState(
                visit.model, visit.gallery, photo, upload, typed=typed, selection=selection
            )
        )

    def pick(
        self,
        state: DescribeState | None,
        model: str,
        gallery: str,
        offered: str,
        event: gr.EventData,
    ) -> Updates:
        """Describe the clicked photo of the gallery."""
        if offered != gallery:
            return  # photos of the gallery that has been chosen are on their way
        number = callbacks.clicked_number(event, len(self.library.galleries[gallery].photos))
        text, typed = (state.selection.text, state.typed) if state else ("", ())
        selection = Selection(text, number, gallery)
        yield from self.describe(
            DescribeState(model, gallery, number, typed=typed, selection=selection)
        )

    def upload(
        self, path: str | None, state: DescribeState | None, model: str, gallery: str
    ) -> Updates:
        """Describe a visitor's photo; if it cannot be read, restore the previous photo."""
        if path is None:
            return
        try:
            image = open_photo(path)
        except UserError:
            yield {self.photo: self._save(self._open(state)) if state else None}
            raise
        text, typed = (state.selection.text, state.typed) if state else ("", ())
        selection = Selection(text, upload=path)
        yield from self.describe(
            DescribeState(model, gallery, upload=path, typed=typed, selection=selection), image
        )

    def describe(self, state: DescribeState, image: Image.Image | None = None) -> Updates:
        """Show the photo at once, and its sentences when they are ranked."""
        image = image or self._open(state)
        yield {
            self.photo: self._save(image),
            self.photo_text: self._upload_text(state) if state.upload else "",
            self.state: state,
            **self.composed.clear(state.gallery),
            **self.context.record(state),
        }
        try:
            yield from self._rank(state, image, SENTENCES)
        except UserError as error:
            if state.photo is None:
                raise
            yield from self._show_own_captions(state, state.photo, error)

    def show_more(self, state: DescribeState | None) -> Updates:
        """Add as many sentences as a page begins with."""
        if state is not None:
            count = min(len(state.sentences) + SENTENCES, MAX_K)
            yield from self._rank(state, self._open(state), count)

    def rank_typed(self, text: str, state: DescribeState | None) -> Updates:
        """Rank the sentences that the visitor has typed; without any, those of the tab again."""
        if state is not None:
            state = replace(state, typed=typed_sentences(text))
            yield from self._rank(state, self._open(state), SENTENCES)

    def _rank(self, state: DescribeState, image: Image.Image, count: int) -> Updates:
        """Rank the captions of the gallery; for an upload, vsdemo's own if those do not fit."""
        library, note = self.library, self.note
        if state.typed:
            yield from self._rank_typed_sentences(state, image)
            return
        gallery = yield from callbacks.wait_for(note, library.photos(state.gallery))
        if state.photo is not None:
            text = html.photo_text(gallery)(state.photo)
            yield {self.photo_text: view.photo_text(text)}
        if state.photo is None and (datasets.is_generated(gallery.name) or not gallery.captions):
            yield from self._rank_shipped_sentences(state, image, count)
            return
        engine = yield from callbacks.load_engine(library, note, state.model, state.gallery)
        captions = yield from callbacks.load_captions(library, note, state.model, state.gallery)
        own: list[str] = []
        if state.photo is None:
            yield {note: html.progress(LOOKING)}
            hits, likely = engine.describe(image, count)
        else:
            hits, likely = engine.describe_photo(state.photo, count)
            own = engine.gallery.own_captions(state.photo)
        ranking = Ranking(hits, len(captions), state.model, likely, own)
        yield self._ranked(state, engine.score, ranking)

    def _rank_shipped_sentences(
        self, state: DescribeState, image: Image.Image, count: int
    ) -> Updates:
        """Rank the sentences that ship with vsdemo."""
        named = yield from callbacks.wait_for(self.note, self.library.describer(state.model))
        yield {self.note: html.progress(LOOKING)}
        hits, likely = named.reader.describe(image, count)
        ranking = Ranking(hits, len(named.reader.captions), named.model, likely)
        yield self._ranked(state, named.reader.score, ranking)

    def _rank_typed_sentences(self, state: DescribeState, image: Image.Image) -> Updates:
        """Rank all sentences that the visitor has typed."""
        library = self.library
        is_own_photo = state.photo is None
        reader = library.describer if is_own_photo else library.reader
        named = yield from callbacks.wait_for(self.note, reader(state.model))
        yield {self.note: html.progress(LOOKING)}
        total = len(state.typed)
        hits = named.reader.rank_sentences(image, state.typed, total)
        ranking = Ranking(hits, total, named.model, is_typed=True)
        yield self._ranked(state, named.reader.score, ranking)

    def _ranked(self, state: DescribeState, score: Score, ranking: Ranking) -> Update:
        hits = ranking.hits
        state = replace(state, sentences=tuple(hit.item for hit in hits))
        text: Update = {}
        sentences = [hit.item for hit in hits] if ranking.likely is None else ranking.likely
        if state.upload and sentences:
            self.context.uploads.describe(state.upload, sentences[0])
            text = {self.photo_text: self._upload_text(state)}
        return {
            **text,
            self.note: "",
            self.sentences: view.ranked_sentences(ranking, score, state.model),
            self.more: gr.update(interactive=len(hits) < min(ranking.total, MAX_K)),
            self.state: state,
        }

    def _show_own_captions(self, state: DescribeState, photo: int, error: UserError) -> Updates:
        """Show the captions of a photo where no sentences can be ranked."""
        captions = yield from callbacks.wait_for(self.note, self.library.photos(state.gallery))
        state = replace(state, sentences=tuple(captions.own_captions(photo)))
        yield {
            self.note: "",
            self.sentences: view.own_captions(state.sentences, error),
            self.more: gr.update(interactive=False),
            self.state: state,
        }

    def _upload_text(self, state: DescribeState) -> Markup:
        sentence = self.context.uploads.sentence(state.upload or "")
        return view.photo_text(html.upload_text(sentence))

    def _save(self, image: Image.Image) -> str:
        return images.save_jpeg(image, SIDE, Path(self.photo.GRADIO_CACHE))

    def _open(self, state: DescribeState) -> Image.Image:
        if state.upload is not None:
            return open_photo(state.upload)
        photos = self.library.galleries[state.gallery].photos
        return open_photo(photos[state.photo or 0])


def _clicked_sentence(state: DescribeState, event: gr.EventData) -> str:
    return html.tidy(state.sentences[callbacks.clicked_number(event, len(state.sentences))])
