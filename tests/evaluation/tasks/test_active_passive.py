"""Swapped roles: the answers of an oracle and of a bag of words."""

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
    """The small Storybook with one thing per group, so that swapped roles change no plural."""

    def scenes(split: str):
        return tuple(
            replace(s, groups=tuple(replace(g, count=1, boxes=g.boxes[:1]) for g in s.groups))
            for s in storybook_sample.scenes(split)
        )

    monkeypatch.setattr(storybook, "scenes", scenes)
    return small_storybook


def test_an_oracle_is_always_right(small_storybook):
    split = small_storybook.load("test")
    model = small_storybook.oracle()
    result = active_passive.ActivePassive().evaluate(
        model, PhotoData(split, small_storybook.features(split))
    )
    assert [result[name] for name in ("voice", "synonyms", "photo")] == [100, 100, 100]
    assert min(result["n_captions"].values()) > 5


def test_a_bag_of_words_cannot_tell_roles_apart(singular):
    split = singular.load("test")
    for rows in active_passive.questions(split).values():
        for _, caption, _, swapped in rows:
            assert caption != swapped
            assert Counter(tokenize(caption)) == Counter(tokenize(swapped))
    result = active_passive.ActivePassive().evaluate(
        singular.bag(), PhotoData(split, singular.features(split))
    )
    assert (result["voice"], result["synonyms"], result["photo"]) == (0, 0, 50)
    assert result["ci95"]["photo"] == [50, 50]


def test_metrics_equal_plain_loops(small_storybook):
    split = small_storybook.load("test")
    model, features = small_storybook.bag(), small_storybook.features(split)
    result = active_passive.ActivePassive().evaluate(model, PhotoData(split, features))
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
        assert result[name] == pytest.approx(100 * right / len(rows))
        assert result["n_captions"][name] == len(rows)
