"""Swapped roles: what who knows and who only counts words must answer."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.support import storybook_sample
from vsdemo.core.sentences import Sentence
from vsdemo.data import storybook
from vsdemo.data.text.vocab import tokenize
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import active_passive


@pytest.fixture
def singular(small_storybook, monkeypatch):
    """The same with one thing of each kind, so that swapped roles change no word's number."""

    def scenes(split: str):
        return tuple(
            replace(s, groups=tuple(replace(g, count=1, boxes=g.boxes[:1]) for g in s.groups))
            for s in storybook_sample.scenes(split)
        )

    monkeypatch.setattr(storybook, "scenes", scenes)
    return small_storybook


def test_who_knows_all_facts_is_always_right(small_storybook):
    split = small_storybook.load("test")
    model = small_storybook.oracle()
    found = active_passive.ActivePassive().evaluate(
        model, PhotoData(split, small_storybook.features(split))
    )
    assert [found[name] for name in ("voice", "synonyms", "photo")] == [100, 100, 100]
    assert min(found["n_captions"].values()) > 5


def test_a_bag_of_words_gets_what_theory_says(singular):
    split = singular.load("test")
    for rows in active_passive.questions(split).values():
        for _, caption, _, swapped in rows:
            assert caption != swapped
            assert Counter(tokenize(caption)) == Counter(tokenize(swapped))
    found = active_passive.ActivePassive().evaluate(
        singular.bag(), PhotoData(split, singular.features(split))
    )
    assert (found["voice"], found["synonyms"], found["photo"]) == (0, 0, 50)
    assert found["ci95"]["photo"] == [50, 50]


def test_by_loops(small_storybook):
    split = small_storybook.load("test")
    model, features = small_storybook.bag(), small_storybook.features(split)
    found = active_passive.ActivePassive().evaluate(model, PhotoData(split, features))
    photos = model.encode_image(features)

    def near(one: str, other: str) -> float:
        a, b = (model.encode_text([Sentence(t)]) for t in (one, other))
        return model.score.symmetric(a, b).item()

    def fits(text: str, photo: int) -> float:
        return model.score(model.encode_text([Sentence(text)]), photos[photo : photo + 1]).item()

    for name, rows in active_passive.questions(split).items():
        right = 0.0
        for photo, caption, twin, swapped in rows:
            if name == "photo":
                assert twin == caption
                gap = fits(twin, photo) - fits(swapped, photo)
            else:
                gap = near(caption, twin) - near(caption, swapped)
            right += 0.5 if abs(gap) < 1e-6 else gap > 0
        assert found[name] == pytest.approx(100 * right / len(rows))
        assert found["n_captions"][name] == len(rows)
