from itertools import pairwise
from random import Random

import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluation.tasks.test_retrieval import OWNER, SCORES, fake, split_of
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import retrieval, typos

words = st.text("abcdefghijklmnopqrstuvwxyzé", min_size=2, max_size=9)
captions = st.lists(words, max_size=8).map(" ".join)


def spellings(word: str) -> set[str]:
    """Return all results of one typo in a lower-case word, rule by rule."""
    results = set()
    for i, letter in enumerate(word):
        results.add(word[:i] + word[i + 1 :])
        results.add(word[: i + 1] + word[i:])
        if i + 1 < len(word):
            results.add(word[:i] + word[i + 1] + letter + word[i + 2 :])
        for row in typos.KEYBOARD:
            for one, other in [*pairwise(row), *pairwise(row[::-1])]:
                if one == letter:
                    results.add(word[:i] + other + word[i + 1 :])
    return results - {word}


@given(words, st.integers(0, 99))
def test_a_typo_follows_one_of_four_rules(word, seed):
    assert typos.typo(word, Random(seed)) in spellings(word)


def test_every_typo_occurs():
    assert {typos.typo("cat", Random(n)) for n in range(500)} == spellings("cat")


@given(captions, st.integers(0, 3))
def test_misspell_changes_the_given_number_of_words(caption, count):
    wrong = typos.misspell(caption, count)
    assert wrong == typos.misspell(caption, count)
    changed = [(a, b) for a, b in zip(caption.split(" "), wrong.split(" "), strict=True) if a != b]
    assert len(changed) == min(count, sum(len(w) > 2 for w in caption.split()))
    assert all(b in spellings(a) for a, b in changed)
    fewer = typos.misspell(caption, max(count - 1, 0)).split(" ")
    assert sum(a != b for a, b in zip(fewer, wrong.split(" "), strict=True)) <= 1


@given(st.text(max_size=60), st.floats(0, 1))
def test_noise_changes_only_letters(caption, share):
    noise = typos.add_noise(caption, share)
    assert noise == typos.add_noise(caption, share)
    assert len(noise) == len(caption)
    for a, b in zip(caption, noise, strict=True):
        assert a == b or (a.isalpha() and b.isalpha() and a.isupper() == b.isupper())
    assert typos.add_noise(caption, 0) == caption
    assert all(
        a != b for a, b in zip(caption, typos.add_noise(caption, 1), strict=True) if a.isalpha()
    )


def test_noise_changes_a_tenth_of_the_letters():
    captions = [f"dogs {n} run over green fields" for n in range(200)]
    pairs = [(a, b) for c in captions for a, b in zip(c, typos.add_noise(c), strict=True)]
    letters = [a != b for a, b in pairs if a.isalpha()]
    assert 0.09 < sum(letters) / len(letters) < 0.11


def test_short_words_punctuation_and_capitals_are_kept():
    assert typos.misspell("A 123 on it!", 2) == "A 123 on it!"
    assert typos.misspell("Dogs, ok.", 1).endswith(", ok.")
    assert typos.misspell("DOGS", 1).isupper()


def test_metrics_of_any_data_set_by_hand():
    """The embedding of a misspelt caption is zero, so that all photos tie."""
    plain, (split, numbers) = fake(SCORES), split_of(SCORES, OWNER)
    named = [f"caption {chr(97 + i) * 2}" for i in range(8)]  # one word of three letters or more
    rows = dict(zip(named, SCORES.T, strict=True))
    zero = torch.zeros(4)
    plain.encode_text = lambda sentences: Embeddings(
        torch.stack([rows.get(s.text, zero) for s in sentences])
    )
    split = type(split)("fake", "test", split.photos, tuple(named), split.photo_of)
    assert plain.encode_text([Sentence(named[0])]).x.tolist() == [SCORES[:, 0].tolist()]
    result = typos.Typos().evaluate(plain, PhotoData(split, numbers))
    clean = retrieval.Retrieval().evaluate(plain, PhotoData(split, numbers))["t2i"]
    assert (
        result["clean"] == {k: clean[k] for k in typos.KEPT} == {"r1": 12.5, "r10": 100, "meanr": 3}
    )
    assert result["one"] == result["two"] == {"r1": 0, "r10": 100, "meanr": 2.5}  # a middling rank
    assert result["drop"]["two"] == {"r1": 12.5, "r10": 0, "meanr": 0.5}
    low, high = result["ci95"]["drop"]["one"]["r1"]
    assert low <= 12.5 <= high
    assert result["n_captions"] == 8
    assert result.keys() >= {typos.Typos.primary}


def test_letters_outside_the_keyboard_are_not_replaced():
    assert {typos.typo("éé", Random(n)) for n in range(50)} == {"é", "ééé"}
