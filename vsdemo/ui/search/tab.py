"""The tab Search: a sentence, and the photos it describes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import gradio as gr

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.hits import Hit
from vsdemo.search.engine import MAX_K, Engine
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import Answer, Update
from vsdemo.ui.components import html as page
from vsdemo.ui.library import Library
from vsdemo.ui.search.tree import TreePanel

ABOUT = "Type a sentence and see the photos it describes."
ASK = "Type a sentence to search them."
NEAREST = 6


@dataclass(frozen=True)
class Shown:
    """What stands on the page; clicks are read against it, not against the drop-downs.

    Without hits these are photos of the gallery as they come, to look at.
    """

    text: str
    model: str
    gallery: str
    k: int  # photos a time
    hits: tuple[Hit, ...] = ()
    seen: int = 0  # photos on the page where there are no hits
    photo: int | None = None  # the one shown large; None for the first

    @property
    def address(self) -> dict[str, str]:
        """What the address bar says."""
        values = {"q": self.text} if self.text else {}
        values |= {"model": self.model, "gallery": self.gallery}
        first = self.hits[0].number if self.hits else 0
        return values if self.photo in (None, first) else {**values, "photo": str(self.photo)}


class Search:
    """Widgets of the tab, and what they do."""

    def __init__(self, library: Library) -> None:
        self.library = library
        gr.HTML(f'<p class="about">{ABOUT}</p>')
        with gr.Row(elem_classes="ask"):
            self.query = gr.Textbox(
                label="Sentence",
                show_label=False,
                container=False,
                max_lines=1,
                placeholder="What should the photos show?",
                elem_id="query",
                scale=1,
            )
            self.find = gr.Button("Find photos", variant="primary", scale=0, elem_id="find")
        with gr.Row(elem_classes="examples"):
            gr.HTML("<span>try</span>", elem_classes="try")
            first = next(iter(library.galleries.values()))
            self.examples = [gr.Button(e, elem_classes="chip", size="sm") for e in first.examples]
        self.note = gr.HTML(page.progress("Opening the gallery", 0, 0), elem_classes="notes")
        with gr.Row(elem_classes="results"):
            with gr.Column(scale=8, min_width=320):
                self.grid = _shown(page.skeleton(12), "grid")
                self.more = gr.Button("Show more", elem_classes="more", interactive=False)
            with gr.Column(scale=5, min_width=320, elem_classes="aside"):
                self.detail = _shown("", "detail")
        self.tree = TreePanel()
        self.shown = gr.State(None)

    @property
    def outputs(self) -> list[Any]:
        """Every widget that an answer may change."""
        results = [self.note, self.grid, self.more, self.detail, self.shown]
        return [self.query, *self.examples, *results]

    def say(self, callback: Callable[..., Answer]) -> Callable[..., Answer]:
        """A callback that tells what went wrong below the query."""
        return callbacks.telling(self.note)(callback)

    def look(self, text: str, model: str, gallery: str, k: int, photo: int | None = None) -> Answer:
        """Shows the photos of a gallery as they come, unless they can be searched at once.

        `answer` goes on from here, so that a click on a photo meanwhile is not undone.
        """
        since = monotonic()
        photos = yield from callbacks.photos(self.library, self.note, gallery)
        examples = self.library.galleries[gallery].examples
        chips = dict(zip(self.examples, examples, strict=True))
        asked = Shown(text.strip(), model, gallery, k, photo=photo)
        if callbacks.soon(self.library, model, gallery, since):
            asked = replace(asked, text=asked.text or examples[0])
            yield {self.query: asked.text, self.shown: asked, **chips}
        else:
            yield {self.query: asked.text, **chips, **self._wall(photos, asked)}

    def answer(self, asked: Shown | None) -> Answer:
        """Fills the page as soon as the photos can be searched, or says why they cannot."""
        if asked is None:
            return
        photos = yield from callbacks.photos(self.library, self.note, asked.gallery)
        try:
            if asked.text:
                yield from self.show(asked)
            else:
                engine = yield from self._engine(asked)
                if engine.unreadable:
                    yield self._wall(engine.gallery, replace(asked, seen=0))
                yield {self.note: page.note(f"{len(photos.photos):,} photos. {ASK}")}
        except UserError as error:
            if not asked.seen:
                yield self._wall(photos, asked)
            if asked.text:
                raise
            told = f"{len(photos.photos):,} photos to look around in; searching has to wait."
            yield {self.note: page.note(f"{told} {error}")}

    def run(self, text: str, model: str, gallery: str, k: int) -> Answer:
        """Finds photos for a sentence."""
        yield from self.show(Shown(text, model, gallery, k))

    def show(self, asked: Shown) -> Answer:
        """Fills the page."""
        engine = yield from self._engine(asked)
        hits = tuple(engine.search(asked.text, asked.k))
        photo = asked.photo
        number = hits[0].number if photo is None or photo >= len(engine.photos) else photo
        shown = replace(asked, hits=hits, photo=number)
        yield {
            self.query: asked.text,
            self.note: page.note(_summary(engine, shown)),
            self.more: gr.update(interactive=len(hits) < min(len(engine.photos), MAX_K)),
            **self._grid(engine, shown),
            **self._detail(engine.gallery, shown, engine),
        }

    def show_more(self, shown: Shown | None) -> Answer:
        """Adds as many photos again to those on the page."""
        if shown is None:
            return
        if not shown.hits:
            photos = yield from callbacks.photos(self.library, self.note, shown.gallery)
            yield self._wall(photos, shown)
            return
        engine = yield from self._engine(shown)
        hits = tuple(engine.search(shown.text, min(len(shown.hits) + shown.k, MAX_K)))
        shown = replace(shown, hits=hits)
        yield {
            self.note: page.note(_summary(engine, shown)),
            self.more: gr.update(interactive=len(hits) < min(len(engine.photos), MAX_K)),
            self.shown: shown,
            **self._grid(engine, shown),
        }

    def select(self, shown: Shown | None, event: gr.EventData) -> Answer:
        """Shows the photo that was clicked, large."""
        if shown is None:
            return
        engine = (yield from self._engine(shown)) if shown.hits else None
        photos = yield from callbacks.photos(self.library, self.note, shown.gallery)
        number = callbacks.number(event, len(photos.photos))
        yield self._detail(photos, replace(shown, photo=number), engine)

    def ask_caption(self, shown: Shown | None, event: gr.EventData) -> Answer:
        """Finds photos for the caption that was clicked."""
        if shown is None:
            return
        photos = yield from callbacks.photos(self.library, self.note, shown.gallery)
        written = photos.own_captions(shown.photo or 0)
        text = page.tidy(written[callbacks.number(event, len(written))])
        yield from self.show(replace(shown, text=text, photo=None))

    def _engine(self, shown: Shown) -> Any:
        return callbacks.engine(self.library, self.note, shown.model, shown.gallery)

    def _source(self, gallery: str) -> page.Source:
        return images.source(self.library.galleries[gallery].token)

    def _grid(self, engine: Engine, shown: Shown) -> Update:
        source, words = self._source(shown.gallery), page.words_of(engine.gallery)
        cards = page.grid(shown.hits, engine.score, source, words, shown.photo)
        return {self.grid: cards}

    def _wall(self, photos: CaptionSet, shown: Shown) -> Update:
        """More photos as they come, and one of them large."""
        count = len(photos.photos)
        photo = None if (shown.photo or 0) >= count else shown.photo
        shown = replace(shown, seen=min(shown.seen + shown.k, count), photo=photo)
        source, words = self._source(shown.gallery), page.words_of(photos)
        cards = page.picks(range(shown.seen), source, words, "Photo", photo or 0, kind="grid")
        return {
            self.grid: cards,
            self.more: gr.update(interactive=shown.seen < count),
            **self._detail(photos, shown),
        }

    def _detail(self, photos: CaptionSet, shown: Shown, engine: Engine | None = None) -> Update:
        """The photo shown large; with an engine, how well it fits and what is near."""
        source, number, fit, near = self._source(shown.gallery), shown.photo or 0, "", ""
        if engine:
            found = next((h for h in shown.hits if h.number == number), None)
            fit = page.bar(found, engine.score) if found else ""
            hits = engine.similar_photos(number, NEAREST)
            near = page.grid(hits, engine.score, source, page.words_of(photos), kind="strip")
        own = photos.own_captions(number)
        html = page.detail(source(number, "large"), own, fit, near, shown.address)
        return {self.detail: html, self.shown: shown}


def _shown(html: str, name: str) -> gr.HTML:
    return gr.HTML(
        html, elem_id=name, js_on_load="vsdemo.report(element, trigger, watch)", padding=False
    )


def _summary(engine: Engine, shown: Shown) -> str:
    text = f"Best {len(shown.hits):,} of {len(engine.photos):,} photos."
    if engine.unreadable:
        text += f" Left out, as they cannot be read: {len(engine.unreadable):,} files."
    if unknown := list(dict.fromkeys(engine.unknown_words(shown.text))):
        listed = ", ".join(f"“{w}”" for w in unknown[:5])
        them = "it" if len(unknown) == 1 else "them"
        text += f" The model does not know {listed} and passed over {them}."
    return text


def build(library: Library) -> Search:
    """Places the tab's widgets and ties those that concern only this tab."""
    tab = Search(library)
    say, quiet = tab.say, {"show_progress": "hidden", "api_visibility": "private"}
    latest = {"trigger_mode": "always_last", **quiet}
    tab.more.click(say(tab.show_more), [tab.shown], tab.outputs, **quiet)
    tab.grid.select(say(tab.select), [tab.shown], tab.outputs, **latest)
    tab.detail.select(say(tab.select), [tab.shown], tab.outputs, **latest)
    tab.detail.click(say(tab.ask_caption), [tab.shown], tab.outputs, **latest)
    tab.tree.follow(tab.shown)
    return tab
