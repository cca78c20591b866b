"""Answers judged by facts, against plain loops."""

import numpy as np
import pytest
import torch

from tests.support import storybook_sample
from vsdemo.data.storybook.facts import entails, facts_of
from vsdemo.data.storybook.typed import typed_sentences
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks.truth import Truth, first_is_true


def measure(model, split):
    return Truth().evaluate(model, PhotoData(split, storybook_sample.features(split)))


def first_answers(scores, true):
    """Return the mean truth of the best answers, query by query."""
    shares = []
    for row, is_true in zip(scores, true, strict=True):
        best = [answer for answer, score in enumerate(row) if score == max(row)]
        shares.append(sum(is_true[answer] for answer in best) / len(best))
    return 100 * np.mean(shares)


def test_a_model_that_knows_the_facts_is_always_right(small_storybook):
    split = small_storybook.load("test")
    result = measure(storybook_sample.oracle(), split)
    assert result["captions"] == result["pictures"] == 100
    assert (result["n_captions"], result["n_typed"]) == (150, 100)
    # It knows no typed sentence, so all pictures are equally good.
    pictures = [facts_of(scene) for scene in stories(split)[0]]
    true = [[s.is_true(picture) for picture in pictures] for s in typed_sentences("test")]
    assert result["typed"] == pytest.approx(100 * np.mean(true))


def test_answers_are_those_of_a_plain_loop(small_storybook):
    split, model = small_storybook.load("dev"), storybook_sample.bag()
    result = measure(model, split)
    scenes, captions = stories(split)
    facts = [facts_of(scene) for scene in scenes]
    photos = model.encode_image(storybook_sample.features(split))
    scores = model.score(model.encode_text(captions), photos).numpy()
    true = np.array([[entails(f, caption.facts) for f in facts] for caption in captions])
    assert result["captions"] == pytest.approx(first_answers(scores, true))
    assert result["pictures"] == pytest.approx(first_answers(scores.T, true.T))
    typed = typed_sentences("dev")
    scores = model.score(model.encode_text(typed), photos)
    true = np.array([[sentence.is_true(f) for f in facts] for sentence in typed])
    assert result["typed"] == pytest.approx(first_answers(scores.numpy(), true))
    among = [true[i, row.topk(3).indices.numpy()].any() for i, row in enumerate(scores)]
    assert result["typed_3"] == pytest.approx(100 * np.mean(among))


def test_splits_without_typed_sentences_have_no_such_figure(small_storybook):
    result = measure(storybook_sample.oracle(), small_storybook.load("compositional"))
    assert result["n_typed"] == 0
    assert not {"typed", "typed_3"} & set(result)


def test_ties_count_by_their_share():
    scores = torch.tensor([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    true = np.array([[True, False, True], [False, False, True], [True, False, True]])
    assert first_is_true(scores, true) == pytest.approx([0.5, 0.0, 2 / 3])
