"""Chains from a concept to a photo follow the facts and are scored as by plain loops."""

from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from tests.support.storybook_scenes import WORDS, group, scene, scenes
from vsdemo.core.sentences import Sentence
from vsdemo.data import storybook
from vsdemo.data.storybook.captions import write_captions
from vsdemo.data.storybook.facts import entails, facts_of
from vsdemo.data.storybook.scene import Link
from vsdemo.data.text.vocab import tokenize
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import chains
from vsdemo.evaluation.tasks.chains import chain
from vsdemo.models.scores import OrderViolation


@pytest.mark.parametrize(
    ("main", "expected"),
    [
        (group("dog"), ["An animal.", "A dog.", "A brown dog."]),
        (group("dog", 3, "black", "small"), ["Animals.", "Dogs.", "Black dogs."]),
        (group("woman", colour="red"), ["A person.", "An adult.", "A woman.", "A woman in red."]),
        (group("farmer", 2), ["People.", "Adults.", "Farmers."]),  # always in red
        (group("hat", colour="blue"), ["A hat.", "A blue hat."]),
        (group("chair", 2, "red"), ["Some furniture.", "Chairs.", "Red chairs."]),
        (group("oak"), ["A plant.", "A tree."]),
    ],
)
def test_chain_begins_with_the_concepts_of_the_main_thing(main, expected):
    example = scene(main, group("ball"), links=(Link("next_to", 0, 1),))
    concepts, _ = chain(write_captions(example, Random(0)))
    assert [c.text for c in concepts] == expected
    assert {group for c in concepts for _, group in c.links} == {0}


@given(scenes, st.integers(0, 10**6))
def test_each_step_is_strictly_entailed_by_all_later_steps(any_scene, seed):
    captions = write_captions(any_scene, Random(seed))
    concepts, fitting = chain(captions)
    steps = [*concepts, *fitting]
    for general, specific in combinations(steps, 2):
        assert entails(specific.facts, general.facts)
        assert not entails(general.facts, specific.facts)
    assert all(entails(facts_of(any_scene), step.facts) for step in steps)
    assert steps[-1] == captions[-1]
    assert [c for c in captions if c in fitting] == list(fitting)  # in the same order


@given(scenes, st.integers(0, 10**6))
def test_chain_contains_as_many_captions_as_possible(any_scene, seed):
    captions = write_captions(any_scene, Random(seed))
    concepts, fitting = chain(captions)

    def fits(some) -> bool:
        steps = [concepts[-1].facts, *(c.facts for c in some)]
        return all(entails(b, a) and not entails(a, b) for a, b in pairwise(steps))

    assert fits(fitting)
    for some in combinations(captions[:-1], len(fitting)):
        assert not fits([*some, captions[-1]])


def test_captions_contain_all_words_of_the_concepts():
    """Captions of the same scene, written with different seeds, use each noun and colour."""
    for kind in WORDS.kinds:
        for colour in WORDS.kinds[kind].colours[:2]:
            one = scene(group(kind, colour=colour))
            captions = write_captions(one, Random(0))
            concepts, _ = chain(captions)
            missing = {word for concept in concepts for word in tokenize(concept.text)}
            for seed in range(40):
                captions = write_captions(one, Random(seed))
                missing -= {word for caption in captions for word in tokenize(caption.text)}
                if not missing:
                    break
            assert not missing


@pytest.fixture
def split(small_storybook):
    return small_storybook.load("test")


def test_random_photos_make_their_sentence_false(split):
    steps = chains.gold(split)
    truths = [facts_of(scene) for scene in storybook.scenes("test")]
    parts_of = [chain(storybook.captions_of(scene)) for scene in storybook.scenes("test")]
    flat = [(photo, c) for photo, parts in enumerate(parts_of) for part in parts for c in part]
    assert [steps.texts[row] for row in steps.text] == [c.text for _, c in flat]
    assert steps.photo.tolist() == [photo for photo, _ in flat]
    for (_, caption), untrue in zip(flat, steps.untrue, strict=True):
        true_of = [entails(truth, caption.facts) for truth in truths]
        assert all(true_of) if untrue < 0 else not true_of[untrue]
    assert len(set(steps.untrue)) > len(truths) / 2
    chains.gold.cache_clear()
    assert (chains.gold(split).untrue == steps.untrue).all()


def test_sentences_that_are_true_of_all_photos_are_left_out(small_storybook, monkeypatch):
    monkeypatch.setattr(chains, "entails", lambda specific, general: True)
    monkeypatch.setattr(chains, "_descends", lambda steps: True)
    chains.gold.cache_clear()
    split = small_storybook.load("dev")
    result = chains.Chains().measure(
        small_storybook.bag(), PhotoData(split, small_storybook.features(split))
    )
    chains.gold.cache_clear()
    assert "above" not in result.metrics()


def test_an_oracle_is_always_right(small_storybook, split):
    model, features = small_storybook.oracle(), small_storybook.features(split)
    result = chains.Chains().evaluate(model, PhotoData(split, features))
    for name in ("direction", *chains.PARTS, "any", "whole", "above"):
        assert result[name] == 100
        assert result["ci95"][name] == [100, 100]
    tau = by_loops(model, split, features)["tau"]
    assert result["tau"] == pytest.approx(100 * np.mean(tau))
    assert min(tau) >= 0  # a more general sentence is true of at least as many photos


def by_loops(model, split, features) -> dict[str, list[float]]:
    """Return the answers to all questions, one score at a time."""
    photos = model.encode_image(features)
    kinds = ("direction", *chains.PARTS, "any", "whole", "chance", "tau", "above")
    answers = {name: [] for name in kinds}
    untrue = iter(chains.gold(split).untrue)

    def judged(a: float, b: float) -> float:
        return 0.5 if abs(a - b) < 1e-5 * max(abs(a), abs(b)) + 1e-6 else float(a > b)

    for photo, one in enumerate(storybook.scenes("test")):
        concepts, fitting = chain(storybook.captions_of(one))
        embeddings = [model.encode_text([Sentence(c.text)]) for c in (*concepts, *fitting)]
        whole, n = 1.0, len(embeddings)
        for i, j in combinations(range(n), 2):
            up, down = (
                model.score(embeddings[a], embeddings[b]).item() for a, b in ((i, j), (j, i))
            )
            answers["any"].append(judged(up, down))
            if j == i + 1:
                part = (i >= len(concepts)) + (j >= len(concepts))
                answers["direction"].append(judged(up, down))
                answers[chains.PARTS[part]].append(judged(up, down))
                whole *= judged(up, down)
        scores = [model.score(embedding, photos)[0] for embedding in embeddings]
        answers["whole"].append(whole)
        answers["chance"].append(0.5 ** (n - 1))
        width = [round(-row.mean().item(), 6) for row in scores]
        answers["tau"].append(kendalltau(range(n), width).statistic if len(set(width)) > 1 else 0)
        for row, other in zip(scores, untrue, strict=False):
            answers["above"].append(judged(row[photo].item(), row[other].item()))
    return answers


@pytest.mark.parametrize("ordered", [True, False])
def test_metrics_of_a_bag_of_words_equal_plain_loops(small_storybook, split, ordered):
    model, features = small_storybook.bag(), small_storybook.features(split)
    if ordered:
        model.score = OrderViolation()
    result = chains.Chains().evaluate(model, PhotoData(split, features))
    loops = by_loops(model, split, features)
    for name, answers in loops.items():
        assert result[name] == pytest.approx(100 * np.mean(answers), abs=1e-4)
        low, high = result["ci95"][name]
        assert low <= result[name] <= high
    assert result["n_chains"] == len(split.photos)
    assert result["length"] == pytest.approx(len(loops["above"]) / len(split.photos))
    if ordered:
        assert result["direction"] > 60  # longer captions contain more of the words
    else:
        assert (result["direction"], result["any"]) == (50, 50)
        assert result["whole"] == result["chance"]


three = st.lists(st.integers(0, 3), min_size=2, max_size=6)


@given(three)
def test_tau_equals_kendalls_tau_with_ties(values):
    pairs = list(combinations(values, 2))
    right = np.array([0.5 if a == b else float(a < b) for a, b in pairs])
    expected = 0 if len(set(values)) == 1 else kendalltau(range(len(values)), values).statistic
    assert chains.tau(right) == pytest.approx(expected)
