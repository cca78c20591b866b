"""Every template shows hostile captions, file names, sentences and names of models as text."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from PIL import Image

from tests.support.hostile import HOSTILE, check_escaped
from vsdemo.core.alignment import Alignment, Fragment
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.hits import Hit, RegionHit
from vsdemo.core.sentences import BinaryTree, Tree
from vsdemo.data.galleries import Gallery
from vsdemo.evaluation.task import Quality
from vsdemo.models.composition import Composed
from vsdemo.models.scores import SCORES
from vsdemo.search.model_comparison import PairComparison, RankedColumn, RankingComparison
from vsdemo.search.ranking import Ranking
from vsdemo.search.reading import ReadingStep
from vsdemo.search.sentence_comparison import SentenceComparison
from vsdemo.search.suggestions import UnreadWord
from vsdemo.ui.alignment import comparison
from vsdemo.ui.alignment import view as alignment
from vsdemo.ui.compare import figures
from vsdemo.ui.compare import view as compare
from vsdemo.ui.compare.state import CompareState
from vsdemo.ui.compare.votes import Votes
from vsdemo.ui.components import html, templates, words
from vsdemo.ui.components.html import Bar, PhotoCard
from vsdemo.ui.components.sentence import dependency_tree
from vsdemo.ui.describe import composed
from vsdemo.ui.describe import view as describe
from vsdemo.ui.describe.state import Ranking as RankedSentences
from vsdemo.ui.library.offers import ModelOffer, OfferGroup, State
from vsdemo.ui.models import view as models
from vsdemo.ui.search import view as search
from vsdemo.ui.search.reading import reading
from vsdemo.ui.search.state import SearchState
from vsdemo.ui.sentences import view as sentences
from vsdemo.ui.sentences.state import Row

FOLDERS = ("alignment", "compare", "components", "describe", "models", "search", "sentences")
WITHOUT_TEXTS = {
    "components/grey_lines.html",
    "components/plotly.html",  # only texts of the app itself
    "components/skeleton.html",
    "describe/pick_label.html",
    "models/waiting.html",
    "search/picked.html",
    "search/map.html",  # only texts of the app itself
}
WITH_CODE = {"components/message.html", "components/with_code.html"}  # they read backticks
BOX = (0.0, 0.0, 1.0, 1.0)


def aligned(text):
    """Return an alignment with a grounded fragment and one that is not, of hostile words."""
    words = (text, text)
    return Alignment(
        words=words,
        tree=Tree(words, (0, 1), ("root", text)),
        fragments=(Fragment(text, (0, 1)), Fragment(text, (1, 1))),
        boxes=(BOX,),
        scores=((0.5,), (-0.5,)),
        parts=(0.5, 0.0),
        total=0.5,
    )


def beside(text):
    return comparison.alignment_html(text, Image.new("RGB", (8, 6)), aligned(text))


def composed_sentences(text):
    return composed.sentences_html([(Composed(text, -1.0, 0.5, 0.2, 0.4), aligned(text))], text)


def hit(text):
    return Hit(1, 0, text, 0.5, 0.5)


def weights(text):
    """Return a comparison of two equal texts, each with equal characters."""
    return SentenceComparison(0.5, attention=((1 / len(text),) * len(text),) * 2)


def photo_cards(text):
    card = PhotoCard(0, text, text, text, current=True, bar=Bar(0.5, text, text, text))
    return templates.render("components/photo_cards.html", cards=[card], kind="grid", can_pick=True)


def photo_detail(text):
    card = PhotoCard(0, text, text, text)
    bar = Bar(0.5, text, text, text)
    return search.detail(
        text, [text], text=text, bar=bar, nearest=[card], file=search.OwnFile([text], 0, text)
    )


def sentence_list(text):
    return html.sentence_list([text], [text], [Bar(0.5, text, text, text)])


def ranked_sentences(text):
    return html.ranked_sentences([hit(text)], SCORES["order"], [text])


def photo_description(text):
    ranking = RankedSentences([hit(text)], 1, text, likely=[text])
    return describe.ranked_sentences(ranking, SCORES["cosine"], text)


def photo_picks(text):
    return html.photo_picks([0], lambda n, s: text, lambda n: text, label=text)


def region_grid(text):
    hits = [RegionHit(1, 0, text, BOX, 1.0)]
    return alignment.region_grid(hits, {0: (4, 3)}, lambda n, s: text, lambda n: text, label=text)


def model_rows(text):
    ignoring = SentenceComparison(0.5, unknown=((text,), ()))
    rows = [Row(text, text, text, text), Row(text, text, text, ignoring)]
    return sentences.rows(rows, text)


def model_panel(text):
    described = ModelOffer(
        key=text,
        state=State.READY,
        kind=text,
        paper=text,
        year=2014,
        dataset=text,
        network=text,
        quality=Quality(1.0, text),
        licence=text,
    )
    damaged = ModelOffer(text, State.UNAVAILABLE, reason=text)
    groups = [OfferGroup(text, text, (described, damaged), fits=True)]
    return models.panel(groups, chosen=text, gallery=text)


def unread(text):
    """Return a sentence of a hostile word, with a hostile word to try."""
    word = UnreadWord(text.lower(), is_ignored=True, near=(text,))
    return words.unread_words(text, [word])


def searched(text, **unlike):
    """Return an engine and a state whose result has one photo of this name."""
    ranking = Ranking(
        names=[text],
        numbers=torch.zeros(1, dtype=torch.long),
        scores=torch.zeros(1),
        unit_scores=torch.zeros(1),
        scale=None,
        unit=text,
        meaning=text,
        candidates=1,
    )
    engine = SimpleNamespace(
        knows_threshold=True,
        is_partial=False,
        unmatched=lambda result: [text],
        photos=[0],
        unreadable={},
        gallery=CaptionSet(text, text, (Path("a"),), (text,), (0,)),
    )
    state = SearchState(text, text, text, 1, hits=(hit(text),), **unlike)
    state.ongoing.ranking = ranking
    return engine, state


def no_match(text):
    return search.summary(*searched(text), "", [text])


def similar_photos(text):
    return search.summary(*searched(text, similar_to=0), text, [text])


def results(text):
    gallery = Gallery(text, text, text, text, (Path("a"),), is_own=True)
    return search.results(*searched(text), gallery, is_nearest=True)


def steps_of_reading(text):
    return reading([ReadingStep(text, (hit(text),))], lambda *_: text, lambda _: text)


def rankings(text):
    columns = [
        RankedColumn(text, hits=(hit(text),), ranks={0: 1}),
        RankedColumn(text, problem=text),
    ]
    return RankingComparison(tuple(columns))


def compared(text):
    state = CompareState(text, text, text, (text,), result=rankings(text))
    return compare.results(state, lambda _: text, lambda *_: text, lambda _: text)


def compared_pair(text):
    pair = PairComparison(text, rankings(text), 0.5)
    state = CompareState(text, text, text, second=text, result=[pair])
    return compare.results(state, lambda _: text, lambda *_: text, lambda _: text)


def compared_photo(text):
    bar = Bar.of(0.5, text, text)
    place = compare.Place(text, 1, 2, bar, dependency_tree(text, aligned(text).tree), text)
    whole = compare.Place(text, None, 0, None, place.picture[:0], "")
    return compare.detail(text, text, [place, whole], [compare.ReadTree(text, place.picture)])


def figures_table(text):
    row = figures.FiguresRow(text, text, text, text, (1.0, None, 2.0, 3.0), text, (1.0,) * 4)
    return figures.table([row, row], "")


CASES = [
    ("components/address.html", lambda t: html.Address({t: t}, t).render()),
    ("alignment/comparison.html", beside),
    ("describe/composed.html", composed_sentences),
    ("components/about.html", html.about),
    ("components/message.html", html.message),
    ("components/examples.html", lambda t: html.examples([t])),
    ("components/note.html", html.note),
    ("components/note.html", html.problem),
    ("components/photo_cards.html", photo_cards),
    ("components/photo_cards.html", photo_picks),
    ("components/progress.html", html.progress),
    ("components/progress.html", lambda t: html.progress(t, 1, 2)),
    ("components/progress.html", lambda t: html.progress(t, 1, 2, count=lambda n: t)),
    ("components/sentence_list.html", sentence_list),
    ("components/sentence_list.html", ranked_sentences),
    ("components/unread_words.html", unread),
    ("components/with_code.html", html.with_code),
    ("alignment/captions.html", lambda t: alignment.captions([t], t)),
    ("alignment/only_tree.html", lambda t: alignment.only_tree(aligned(t).tree, t)),
    ("alignment/parts.html", lambda t: alignment.parts(aligned(t), aligned(t).tree)),
    ("alignment/parts.html", lambda t: alignment.parts(aligned(t), None)),
    ("alignment/photo.html", lambda t: alignment.photo(t, (4, 3), t, aligned(t))),
    ("alignment/regions.html", region_grid),
    ("compare/detail.html", compared_photo),
    ("compare/figures.html", figures_table),
    ("compare/phrase.html", lambda t: compare.phrases(BinaryTree((t, t), ((0, 1),), ""))),
    ("compare/phrases.html", lambda t: compare.phrases(BinaryTree((t, t), ((0, 1),), ""))),
    ("compare/query_photo.html", lambda t: compare.query_photo(t, t)),
    ("compare/results.html", compared),
    ("compare/results.html", compared_pair),
    ("compare/votes.html", lambda t: Votes.read({t: [1, 2]}).figure()),
    ("describe/likely.html", photo_description),
    ("describe/photo_text.html", describe.photo_text),
    ("models/field.html", lambda t: models.field(t, ModelOffer(t, State.READY))),
    ("models/panel.html", model_panel),
    ("search/detail.html", photo_detail),
    ("search/reading.html", steps_of_reading),
    ("search/results.html", results),
    ("search/summary.html", no_match),
    ("search/summary.html", similar_photos),
    ("components/tree.html", lambda t: dependency_tree(t, aligned(t).tree)),
    (
        "sentences/entailment.html",
        lambda t: sentences.entailment(SentenceComparison(0.5, (0.1, -0.2)), t),
    ),
    ("sentences/nearest.html", lambda t: sentences.nearest([[hit(t)], [hit(t)]], t)),
    ("sentences/rows.html", model_rows),
    ("sentences/strips.html", lambda t: sentences.strips([t, t], weights(t), t)),
]


@pytest.mark.parametrize(
    ("template", "show"), CASES, ids=[f"{i}-{name}" for i, (name, _) in enumerate(CASES)]
)
def test_hostile_texts_are_only_texts(template, show, monkeypatch):
    rendered, load = [], templates.ENVIRONMENT.get_template
    monkeypatch.setattr(
        templates.ENVIRONMENT,
        "get_template",
        lambda name, *parent: rendered.append(name) or load(name, *parent),
    )
    check_escaped(show, HOSTILE.replace("`", "") if template in WITH_CODE else HOSTILE)
    assert template in rendered


def test_code_is_escaped_too():
    assert html.with_code("a `<b>` & c") == "a <code>&lt;b&gt;</code> &amp; c"


def test_single_characters_are_escaped():
    strips = sentences.strips(["<&"], SentenceComparison(0.5, attention=((0.5, 0.5),)), "")
    assert ">&lt;</span>" in strips
    assert ">&amp;</span>" in strips


def test_every_template_with_texts_is_tested():
    paths = (path for folder in FOLDERS for path in (templates.FOLDER / folder).glob("*.html"))
    names = {path.relative_to(templates.FOLDER).as_posix() for path in paths}
    macros = {name for name in names if name.endswith("/macros.html")}  # rendered by the others
    assert names - macros - WITHOUT_TEXTS == {name for name, _ in CASES}
