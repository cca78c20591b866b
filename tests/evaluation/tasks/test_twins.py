"""True sentences and their false twins: what they differ in, and the answers of two models."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.support import storybook_sample
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data import storybook
from vsdemo.data.storybook.facts import facts_of
from vsdemo.data.storybook.false_twins import RESPECTS
from vsdemo.data.storybook.truth import FALSE, TRUE, fact_table, labels, sentence_table
from vsdemo.data.storybook.visible_facts import visible_facts
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks.twins import NEGATION, SUMMED, Twins, pairs, pairs_about
from vsdemo.models.scores import Cosine

ALL = (*RESPECTS, NEGATION)


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr("vsdemo.evaluation.metrics.bootstrap.RESAMPLES", 50)


def measure(model, split):
    return Twins().evaluate(model, PhotoData(split, storybook_sample.features(split)))


def model_of(sentences, pictures, score_of):
    """Return a model whose score of a sentence and a picture is that of a function."""
    numbers = {sentence.text: number for number, sentence in enumerate(sentences)}

    class ByFunction(Cosine):
        def pairs(self, general, specific):
            rows = zip(general.x[:, 0].tolist(), specific.x[:, 0].tolist(), strict=True)
            return torch.tensor([float(score_of(sentences[g], pictures[s])) for g, s in rows])

    return SimpleNamespace(
        score=ByFunction(),
        encode_text=lambda rows: Embeddings(torch.tensor([numbers[s.text] for s in rows])[:, None]),
        encode_image=lambda rows: Embeddings(torch.arange(len(rows))[:, None]),
    )


def model_by_facts(split, score_of):
    """Return a model that knows the facts of all pictures and sentences of the task."""
    rows = [pair for rows in pairs(split).values() for pair in rows]
    sentences = [sentence for pair in rows for sentence in (pair.true, pair.false)]
    return model_of(sentences, [facts_of(s) for s in storybook.scenes(split.split)], score_of)


def test_an_oracle_is_always_right(small_storybook):
    split = small_storybook.load("test")
    result = measure(model_by_facts(split, lambda sentence, facts: sentence.is_true(facts)), split)
    assert {name: result[name] for name in ("mean", *ALL)} == dict.fromkeys(("mean", *ALL), 100)
    assert result["ci95"]["mean"] == result["ci95"]["roles"] == [100, 100]


def test_a_constant_model_and_one_that_is_always_wrong(small_storybook):
    split = small_storybook.load("test")
    constant = measure(model_by_facts(split, lambda sentence, facts: 1), split)
    assert {constant[name] for name in ("mean", *ALL)} == {50}
    wrong = measure(model_by_facts(split, lambda sentence, facts: -sentence.is_true(facts)), split)
    assert {wrong[name] for name in ("mean", *ALL)} == {0}


def test_figures_are_those_of_a_plain_loop(small_storybook):
    """And `mean` is over four of them only."""
    split, model = small_storybook.load("dev"), storybook_sample.bag()
    result = measure(model, split)
    photos = model.encode_image(storybook_sample.features(split))
    for name, rows in pairs(split).items():
        right = 0.0
        for photo, true, false in rows:
            texts = model.encode_text([Sentence(true.text), Sentence(false.text)])
            first, second = model.score(texts, photos[photo : photo + 1])[:, 0].tolist()
            right += 0.5 if abs(first - second) < 1e-6 else first > second
        assert result[name] == pytest.approx(100 * right / len(rows))
        low, high = result["ci95"][name]
        assert low <= result[name] <= high
    assert result["mean"] == pytest.approx(np.mean([result[name] for name in SUMMED]))


def test_each_picture_has_a_pair_in_most_respects(small_storybook):
    split = small_storybook.load("test")
    by_name = pairs(split)
    for rows in by_name.values():
        photos = [pair.photo for pair in rows]
        assert photos == sorted(set(photos))
    counts = {name: len(rows) for name, rows in by_name.items()}
    assert tuple(counts) == ALL
    pictures = len(split.photos)
    assert counts["kind"] == counts[NEGATION] == pictures
    for name in ("colour", "count", "place", "time", "weather", "action"):
        assert pictures / 2 < counts[name] <= pictures
    assert min(counts["roles"], counts["size"]) > 5
    result = measure(model_by_facts(split, lambda sentence, facts: 1), split)
    assert result["n_pairs"] == counts


def test_pairs_are_the_same_each_time(small_storybook):
    split = small_storybook.load("test")
    before = pairs(split)
    small_storybook.clear_caches()
    again = pairs(split)
    assert again is not before
    assert again == before


def test_the_first_sentence_is_true_and_the_second_surely_false(small_storybook):
    split = small_storybook.load("test")
    scenes = storybook.scenes("test")
    facts = fact_table([facts_of(scene) for scene in scenes])
    shown = fact_table([visible_facts(scene) for scene in scenes])
    for rows in pairs(split).values():
        photos = [pair.photo for pair in rows]
        for wanted, side in ((TRUE, "true"), (FALSE, "false")):
            sentences = sentence_table([getattr(pair, side) for pair in rows])
            of_own = labels(sentences, facts, shown)[range(len(rows)), photos]
            assert set(of_own.tolist()) == {wanted}


def without(facts, name):
    """Return facts without what sentences that differ in one respect may differ in."""
    blank = {"colour": {"colour": None}, "size": {"size": None}, "count": {"count": 1}}
    if name in ("place", "time", "weather"):
        return replace(facts, **{name: None})
    if name == "roles":  # a posture goes along with the subject
        return replace(facts, links=sorted(x.action for x in facts.links))
    if name == "action":
        return replace(facts, links=len(facts.links))
    if name == "kind":  # a thing that does not count has no number either
        return replace(facts, things=[(thing.colour, thing.size) for thing in facts.things])
    return replace(facts, things=[replace(thing, **blank[name]) for thing in facts.things])


def test_captions_and_twins_differ_in_their_respect_only(small_storybook):
    by_name = pairs(small_storybook.load("test"))
    for name in RESPECTS:
        for _, true, false in by_name[name]:
            assert true.facts != false.facts
            assert without(true.facts, name) == without(false.facts, name)
            assert true.absent == false.absent == ()
    for _, true, false in by_name[NEGATION]:
        assert true.facts == false.facts
        assert true.absent != false.absent
        assert len(true.absent) == len(false.absent) == 1


def test_pairs_are_of_the_fullest_caption_that_has_one(small_storybook):
    detailed = 0
    for scene in storybook.scenes("test"):
        captions = [caption.text for caption in storybook.captions_of(scene)]
        about = pairs_about(scene)
        assert {about[name][0].text for name in RESPECTS if name in about} <= {*captions}
        true, _ = about[NEGATION]
        assert any(true.text.startswith(caption.rstrip(".")) for caption in captions)
        detailed += about["kind"][0].text == captions[-1]
    assert detailed > 20


def test_the_split_compositional_has_pairs_as_well(small_storybook):
    split = small_storybook.load("compositional")
    result = measure(model_by_facts(split, lambda sentence, facts: sentence.is_true(facts)), split)
    assert result["mean"] == 100
