"""The tab Compare: one query, and what two to four models answer, side by side."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import gradio as gr

from vsdemo.core import language
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.images import open_photo
from vsdemo.core.language import message, translate
from vsdemo.core.paths import shorten_paths
from vsdemo.core.sentences import Sentence
from vsdemo.search.engine import Engine
from vsdemo.search.model_comparison import (
    MOST,
    SAMPLE,
    compare_descriptions,
    compare_pair,
    compare_searches,
    telling_caption,
)
from vsdemo.ui import callbacks, images
from vsdemo.ui.callbacks import NEWEST, QUIET, Update, Updates
from vsdemo.ui.compare import figures, view
from vsdemo.ui.compare.detail import photo_detail
from vsdemo.ui.compare.state import ROWS, SECOND, WITH, CompareState
from vsdemo.ui.compare.votes import Votes
from vsdemo.ui.components import html
from vsdemo.ui.components.labels import label
from vsdemo.ui.components.widgets import (
    about_html,
    clickable_html,
    note_html,
    one_line,
    upload_chip,
)
from vsdemo.ui.late_text import NUMBERS, LateText, is_handled
from vsdemo.ui.library.models import paper_of
from vsdemo.ui.library.pending import Pending
from vsdemo.ui.tabs import Context, Selection, Visit, is_shown
from vsdemo.ui.uploads import GONE, is_uploaded

ABOUT = message("Ask two to four models the same question, and see what each of them finds.")
FIRST_OTHERS = 2  # models beside that of the page, until a visitor chooses others
PAIRS = (
    ("A dog chases a man.", "A man chases a dog."),
    ("A red car.", "A blue car."),
)
NO_EXAMPLE = message("None of {count} captions is answered correctly by {winner} alone.")
TELLING = message(
    "Right at first for {winner}; for {loser}, the first right photo is number {rank}."
)
CHOOSE = message("Choose at least one other model.")
VOTE_FIRST = message(
    "After your vote, a photo that you click is shown here with what each model sees."
)
FORGOTTEN = message("The votes are forgotten.")


class CompareTab:
    """The widgets of the tab, and their callbacks."""

    key: ClassVar = "compare"
    title: ClassVar = message("Compare")

    def __init__(self, context: Context) -> None:
        self.context, self.library = context, context.library
        about_html(ABOUT)
        with gr.Row(elem_classes="query-row two"):
            self.query = one_line(
                message("Sentence"),
                message("What should the photos show?"),
                elem_id="compare-query",
            )
            self.second = one_line(
                message("Second sentence"),
                message("Optional: a second sentence"),
                elem_id="compare-second",
            )
            self.go = gr.Button(label("Compare"), variant="primary", scale=0, elem_id="compare-go")
        with gr.Row(elem_classes="compare-settings"):
            self.others = gr.Dropdown(
                self._choices(),
                multiselect=True,
                max_choices=MOST - 1,
                label=label("Models to compare with"),
                elem_id="compare-models",
            )
            self.blind = gr.Checkbox(
                label=label("Hide the names, and vote"),
                interactive=False,  # until there is something to hide
                elem_id="compare-blind",
            )
            self.photo = upload_chip(elem_id="compare-upload")
        self.examples = clickable_html("compare-examples", html.examples(()), padding=False)
        self.note = note_html(html.note(""))
        with gr.Row(elem_classes="results", elem_id="compared-models"):
            with gr.Column(scale=8, min_width=320):
                self.results = clickable_html("compare-results", html.skeleton(ROWS))
                self.votes = clickable_html("compare-votes")
            with gr.Column(scale=5, min_width=320, elem_classes="side-column") as self.side:
                self.detail = clickable_html("compare-detail", padding=False)
        self.figures = figures.FiguresPanel(self.library)
        self.state = gr.State(None)
        self.late_text = LateText(self.query)
        self.kept = gr.BrowserState({}, storage_key="vsdemo-votes", secret="votes")
        self._connect()

    def _choices(self) -> list[str]:
        return list(self.library.models)

    @property
    def inputs(self) -> list[Any]:
        """The widgets whose values `show` takes after the visit."""
        return [self.state, self.blind, self.query]

    @property
    def outputs(self) -> list[Any]:
        """Every widget that a callback may change."""
        query = [self.query, self.second, self.others, self.blind, self.examples]
        return [
            *query,
            self.note,
            self.results,
            self.side,
            self.detail,
            self.state,
            self.late_text.late,
            *self.context.place,
        ]

    def _connect(self) -> None:
        guard, outputs, state = self.context.guard(self), self.outputs, [self.state]
        self.late_text.connect()
        typed = [self.query, self.late_text.handled, self.second]
        query = [*typed, self.others, self.blind, self.state]
        for event in (
            self.go.click,
            self.query.submit,
            self.second.submit,
            self.others.input,
            self.blind.input,
        ):
            event(guard(self.run), query, outputs, **NEWEST)
        self.examples.click(guard(self.run_example), [self.blind, *state], outputs, **NEWEST)
        self.photo.upload(
            guard(self.run_photo), [self.photo, self.others, self.blind, *state], outputs, **NEWEST
        )
        guard_photo = self.context.guard(self, channel="compare photo", ended_by=[self.key])
        choose = guard_photo(self.choose)
        self.results.select(choose, state, outputs, **NEWEST)
        self.detail.submit(guard(self.compare_sentences), state, outputs, **NEWEST)
        vote = self.context.guard(self, channel="vote")
        voting = [*outputs, self.votes, self.kept]
        self.results.apply(guard(self.vote), [self.kept, *state], voting, **NEWEST)
        self.votes.clear(vote(self.forget), None, [self.note, self.votes, self.kept], **NEWEST)
        self.kept.change(vote(self.show_votes), self.kept, [self.note, self.votes], **NEWEST)
        self.figures.follow(self.state)
        self.figures.content.select(guard(self.show_example), state, outputs, **NEWEST)
        self.note.stop(guard(callbacks.stop(self.note)), None, self.note, **NEWEST)
        search = self.context.guard(self, channel="")(self.search_sentence)
        self.results.click(search, state, [self.note, *self.context.navigation], **QUIET)

    def begin_loading(self, visit: Visit) -> Sequence[Pending[Any]]:
        """Begin to load the photos and the models that an address names."""
        others = self._others_of(visit, None)
        return [
            self.library.photos(visit.gallery),
            *(self.library.engine(model, visit.gallery) for model in (visit.model, *others)),
        ]

    def show(
        self,
        visit: Visit,
        state: CompareState | None,
        is_blind: bool,  # noqa: FBT001 (a checkbox)
        query: str = "",
    ) -> Updates:
        """Compare what is selected, else the same as before or the first example."""
        if state is not None and is_shown(visit, state):
            yield self.context.record(state)
            return
        selection, gallery = visit.selection, visit.gallery
        second = selection.value(SECOND)
        is_address = selection.value(WITH) is not None
        if state is not None and state.text == selection.text and not is_address:
            second = second or state.second
        shown = CompareState(
            text=selection.text,
            model=visit.model,
            gallery=gallery,
            others=self._others_of(visit, state),
            second=second or "",
            selection=selection,
            late=next(NUMBERS),
        )
        photo = selection.photo_in(gallery)
        if state is not None and state.gallery == gallery and state.selection == selection:
            kept = {name: getattr(state, name) for name in ("text", "second", "photo", "upload")}
            shown = replace(shown, **kept, chosen=state.chosen)
        elif selection.text:
            shown = replace(shown, chosen=photo)
        elif photo is not None or selection.upload:
            shown = replace(shown, photo=photo, upload=selection.upload)
        # Even if the comparison fails or is stopped, the next one is of this model and gallery.
        yield {
            self.others: gr.update(choices=self._choices(), value=list(shown.others)),
            self.blind: gr.update(interactive=True),
            self.second: shown.second,
            self.state: shown,
        }
        if not shown.text and not shown.has_photo:
            shown = yield from self._with_example(shown)
        before = query if state else ""
        yield self.late_text.defer({self.query: shown.text}, before, shown.late)
        yield from self._compare(shown.hide_models() if is_blind else shown)

    def _with_example(self, state: CompareState) -> Generator[Update, None, CompareState]:
        """Return the state with the first sentence to try."""
        yield from callbacks.load_engine(self.library, self.note, state.model, state.gallery)
        examples = self.library.wait_for_examples(state.model, state.gallery)
        return replace(state, text=next(iter(examples), PAIRS[0][0]))

    def _others_of(self, visit: Visit, state: CompareState | None) -> tuple[str, ...]:
        """Return the models to compare with: those of the address, else those of before."""
        named = visit.selection.value(WITH)
        is_new = state is None or visit.selection != state.selection
        if named is not None and is_new:
            models = dict.fromkeys(map(self.library.find_model, named.split(",")))
            known = [model for model in models if model and model != visit.model]
            if known:
                return tuple(known[: MOST - 1])
        if state is not None and state.gallery == visit.gallery and state.others:
            kept = [model for model in (*state.others, state.model) if model != visit.model]
            return tuple(kept[: max(len(state.others), 1)])
        return tuple(self.library.contrasts(visit.model, visit.gallery)[:FIRST_OTHERS])

    def run(
        self,
        text: str,
        handled: str,
        second: str,
        others: Sequence[str] | None,
        is_blind: bool,  # noqa: FBT001 (a checkbox)
        state: CompareState | None,
    ) -> Updates:
        """Compare what was typed by the chosen models.

        Args:
            text: What is in the field.
            handled: Which sentence the page has filled in last; see `LateText`.
            second: The second sentence; may be empty.
            others: Keys of the models to compare with.
            is_blind: Whether to hide the names of the models.
            state: What the page shows; None before the tab has been opened.
        """
        if state is None:
            return
        if state.has_photo and not text.strip():
            shown = state.asking(_selection(state), photo=state.photo, upload=state.upload)
        else:
            if not text.strip() and not is_handled(handled, state.late):
                if not state.text:
                    state = yield from self._with_example(state)
                text, state = state.text, replace(state, late=next(NUMBERS))
                yield self.late_text.defer({self.query: text}, "", state.late)
            text = Sentence.from_user(text.strip()).text
            shown = state.asking(Selection(text), second=second.strip())
        state = replace(shown, others=self._chosen(others, state))
        yield from self._compare(state.hide_models() if is_blind else state)

    def run_example(
        self,
        is_blind: bool,  # noqa: FBT001 (a checkbox)
        state: CompareState | None,
        event: gr.EventData,
    ) -> Updates:
        """Compare the sentences of the clicked example."""
        if state is not None:
            text, _, second = callbacks.clicked_name(event).partition(" / ")
            yield {self.query: text, self.second: second}
            yield from self.run(text, "", second, state.others, is_blind, state)

    def run_photo(
        self,
        path: str,
        others: Sequence[str] | None,
        is_blind: bool,  # noqa: FBT001 (a checkbox)
        state: CompareState | None,
    ) -> Updates:
        """Compare the sentences that models find for a visitor's photo."""
        if not is_uploaded(path):
            raise UserError(GONE)
        if state is not None:
            open_photo(path)  # an unreadable photo changes nothing
            shown = state.asking(Selection(upload=path), upload=path)
            state = replace(shown, others=self._chosen(others, state))
            yield {self.query: "", self.second: ""}
            yield from self._compare(state.hide_models() if is_blind else state)

    def compare_sentences(self, state: CompareState | None) -> Updates:
        """Compare the sentences that models find for the large photo."""
        if state is not None and state.large is not None:
            selection = Selection("", state.large, state.gallery)
            yield {self.query: "", self.second: ""}
            yield from self._compare(state.asking(selection, photo=state.large))

    def _chosen(self, others: Sequence[str] | None, state: CompareState) -> tuple[str, ...]:
        """Return the models that were chosen beside that of the page."""
        known = [model for model in others or () if model in self.library.models]
        if not (chosen := tuple(model for model in known if model != state.model)):
            raise UserError(translate(CHOOSE))
        return chosen

    def _compare(self, state: CompareState) -> Updates:
        """Ask every model, and fill the page."""
        engines = yield from self._engines(state)
        if state.has_photo:
            for model in _usable(engines):
                yield from callbacks.load_captions(self.library, self.note, model, state.gallery)
            photo = open_photo(state.upload) if state.upload else state.photo
            assert photo is not None
            result: Any = compare_descriptions(engines, photo, ROWS)
            state = replace(state, chosen=None)
        elif state.second:
            result = compare_pair(engines, state.text, state.second, ROWS)
        else:
            result = compare_searches(engines, state.text, ROWS)
        state = replace(state, result=result)
        yield {
            **self._results(state),
            **self._detail(state, engines),
            self.examples: html.examples(self._examples(state)),
            self.note: "",
        }

    def _engines(self, state: CompareState) -> Generator[Update, None, dict[str, Engine | str]]:
        """Load the models, all at the same time; in place of one that fails, return the reason.

        Raises:
            UserError: All of them fail.
        """
        for model in state.models:
            self.library.engine(model, state.gallery)
        engines: dict[str, Engine | str] = {}
        for model in state.models:
            try:
                engines[model] = yield from callbacks.load_engine(
                    self.library, self.note, model, state.gallery
                )
            except Cancelled:
                raise
            except UserError as error:
                engines[model] = shorten_paths(str(error))
        if not _usable(engines):
            raise UserError(str(engines[state.models[0]]))
        return engines

    def _examples(self, state: CompareState) -> list[str]:
        examples = self.library.known_examples(state.model, state.gallery)
        return [*examples[:3], *(" / ".join(pair) for pair in PAIRS)]

    def _results(self, state: CompareState) -> Update:
        gallery = self.library.galleries[state.gallery]
        captions = self.library.photos(state.gallery).result()
        return {
            self.results: view.results(
                state,
                self._paper,
                images.addresses(gallery.token),
                html.photo_text(captions),
            ),
            self.state: state,
            **self.context.record(state),
        }

    def _paper(self, model: str) -> str:
        """Return authors and year of a model's paper; empty without one."""
        return paper_of(self.library.models[model])

    def _detail(self, state: CompareState, engines: Mapping[str, Engine | str]) -> Update:
        """Return a photo large: the query, or a result with what the models make of it.

        Results of hidden models would reveal them. Two sentences need the whole width.
        """
        if state.second:
            return {self.side: gr.update(visible=False), self.detail: ""}
        address = images.addresses(self.library.galleries[state.gallery].token)
        if state.upload:
            folder = self.detail.GRADIO_CACHE
            source = images.upload_address(state.upload, images.SIDES["large"], folder)
            detail = view.query_photo(source, html.upload_text())
        elif state.photo is not None:
            captions = self.library.photos(state.gallery).result()
            text = html.photo_text(captions)(state.photo)
            detail = view.query_photo(address(state.photo, "large"), text)
        elif state.is_blind:
            detail = html.note(translate(VOTE_FIRST))
        elif state.large is None:
            detail = html.note("")
        else:
            detail = photo_detail(state, _usable(engines), address)
        return {self.side: gr.update(visible=True), self.detail: detail}

    def choose(self, state: CompareState | None, event: gr.EventData) -> Updates:
        """Show the clicked photo large."""
        if state is not None and state.result is not None:
            count = len(self.library.galleries[state.gallery].photos)
            number = callbacks.clicked_number(event, count)
            selection = Selection(state.text, number, state.gallery)
            state = replace(state, chosen=number, selection=selection)
            engines = yield from self._engines(state)
            yield {**self._results(state), **self._detail(state, engines), self.note: ""}

    def show_example(self, state: CompareState | None, event: gr.EventData) -> Updates:
        """Compare a caption that the clicked model wins, or loses, against that of the page."""
        if state is None:
            return
        rows = figures.rows(self.library, state.gallery)
        number = callbacks.clicked_number(event, 2 * len(rows))
        model, loses = rows[number // 2].model, number % 2
        state = replace(state, others=(model,), order=())
        engines = yield from self._engines(state)
        yield {self.note: html.progress(message("Looking for an example"))}
        winner, loser = (state.model, model) if loses else (model, state.model)
        models = _usable(engines)
        for name in (winner, loser):
            if name not in models:
                raise UserError(str(engines[name]))
        example = telling_caption(models[winner], models[loser])
        if example is None:
            count = language.number(SAMPLE)
            raise UserError(translate(NO_EXAMPLE, winner=winner, count=count))
        text = html.tidy(example.text)
        yield {self.query: text, self.second: "", self.others: [model]}
        yield from self._compare(state.asking(Selection(text), chosen=example.photo))
        rank = language.number(example.rank)
        telling = translate(TELLING, winner=winner, loser=loser, rank=rank)
        yield {self.note: html.note(telling)}

    def search_sentence(self, state: CompareState | None, event: gr.EventData) -> Updates:
        """Search for the photos that the clicked sentence describes."""
        if state is not None:
            captions = self.library.captions(state.model, state.gallery)
            items = (yield from callbacks.wait_for(self.note, captions)).items
            text = html.tidy(items[callbacks.clicked_number(event, len(items))])
            yield self.context.go("search", Selection(text))

    def vote(self, kept: Any, state: CompareState | None, event: gr.EventData) -> Updates:
        """Count a vote, and reveal the models."""
        if state is None or not state.is_blind:
            return
        number = callbacks.clicked_number(event, view.NEITHER + 1)
        choice = state.order[number] if number < len(state.order) else None
        votes = Votes.read(kept).add(state.order, choice)
        engines = yield from self._engines(state)
        shown = replace(state, order=())
        yield {
            **self._results(shown),
            **self._detail(shown, engines),
            self.kept: votes.record(),
            self.votes: votes.figure(),
            self.note: html.note(_revealed(state, choice)),
        }

    def show_votes(self, kept: Any) -> Updates:
        """Show the votes that the browser has kept."""
        yield {self.votes: Votes.read(kept).figure()}

    def forget(self) -> Updates:
        """Forget all votes."""
        yield {self.kept: {}, self.votes: "", self.note: html.note(translate(FORGOTTEN))}


def _usable(engines: Mapping[str, Engine | str]) -> dict[str, Engine]:
    """Return the engines that could be loaded."""
    return {name: engine for name, engine in engines.items() if isinstance(engine, Engine)}


def _selection(state: CompareState) -> Selection:
    """Return the selection of a photo that is the query."""
    return Selection("", state.photo, state.gallery, state.upload)


def _revealed(state: CompareState, choice: str | None) -> str:
    """Return which models the columns were, and which one was voted for."""
    columns = ", ".join(
        translate("{letter} was {model}", letter=state.title(model), model=model)
        for model in state.order
    )
    if choice is None:
        return translate("{columns}. Your vote: none is better.", columns=columns)
    return translate("{columns}. Your vote: {model}.", columns=columns, model=choice)
