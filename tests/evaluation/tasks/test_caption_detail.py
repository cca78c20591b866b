import numpy as np
import pytest

from vsdemo.data import storybook
from vsdemo.data.storybook.facts import entails, facts_of
from vsdemo.evaluation.metrics import retrieval
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import caption_detail


@pytest.fixture
def split(small_storybook):
    return small_storybook.load("test")


def test_an_oracle_reaches_the_best_possible_rank(small_storybook, split):
    model, features = small_storybook.oracle(), small_storybook.features(split)
    result = caption_detail.CaptionDetail().evaluate(model, PhotoData(split, features))
    for level in range(1, 6):
        metrics = result[f"level{level}"]
        assert metrics["meanr"] == pytest.approx(metrics["possible"])
    assert result["level1"]["meanr"] > result["level5"]["meanr"]
    scenes = storybook.scenes("test")
    short = [storybook.captions_of(scene)[0].facts for scene in scenes]
    true = [[entails(facts_of(scene), facts) for scene in scenes] for facts in short]
    assert result["level1"]["possible"] == pytest.approx(np.mean([(1 + sum(t)) / 2 for t in true]))


def test_metrics_of_a_bag_of_words_equal_plain_loops(small_storybook, split):
    model, features = small_storybook.bag(), small_storybook.features(split)
    result = caption_detail.CaptionDetail().evaluate(model, PhotoData(split, features))
    t2i = retrieval.measure(model, split, features).t2i
    for level in range(5):
        ranks = [t2i[5 * photo + level] for photo in range(len(split.photos))]
        metrics = result[f"level{level + 1}"]
        assert metrics["meanr"] == pytest.approx(sum(ranks) / len(ranks))
        assert metrics["r10"] == pytest.approx(100 * sum(r <= 10 for r in ranks) / len(ranks))
        assert metrics["r1"] == pytest.approx(100 * sum(r <= 1 for r in ranks) / len(ranks))
    for name in ("r1", "r10", "meanr", "possible"):
        both = [result[level][name] for level in ("level4", "level5")]
        assert result["fullest"][name] == pytest.approx(sum(both) / 2)
    assert result["ratio"] == result["level1"]["meanr"] / result["level5"]["meanr"]
    low, high = result["ci95"]["ratio"]
    assert low < result["ratio"] < high
    assert result["n_images"] == len(split.photos)
