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


def test_who_knows_all_facts_ranks_as_well_as_is_possible(small_storybook, split):
    model, features = small_storybook.oracle(), small_storybook.features(split)
    found = caption_detail.CaptionDetail().evaluate(model, PhotoData(split, features))
    for level in range(1, 6):
        figures = found[f"level{level}"]
        assert figures["meanr"] == pytest.approx(figures["possible"])
    assert found["level1"]["meanr"] > found["level5"]["meanr"]
    scenes = storybook.scenes("test")
    short = [storybook.captions_of(scene)[0].facts for scene in scenes]
    true = [[entails(facts_of(scene), facts) for scene in scenes] for facts in short]
    assert found["level1"]["possible"] == pytest.approx(np.mean([(1 + sum(t)) / 2 for t in true]))


def test_a_bag_of_words_by_loops(small_storybook, split):
    model, features = small_storybook.bag(), small_storybook.features(split)
    found = caption_detail.CaptionDetail().evaluate(model, PhotoData(split, features))
    t2i = retrieval.measure(model, split, features).t2i
    for level in range(5):
        ranks = [t2i[5 * photo + level] for photo in range(len(split.photos))]
        figures = found[f"level{level + 1}"]
        assert figures["meanr"] == pytest.approx(sum(ranks) / len(ranks))
        assert figures["r10"] == pytest.approx(100 * sum(r <= 10 for r in ranks) / len(ranks))
        assert figures["r1"] == pytest.approx(100 * sum(r <= 1 for r in ranks) / len(ranks))
    for figure in ("r1", "r10", "meanr", "possible"):
        both = [found[level][figure] for level in ("level4", "level5")]
        assert found["fullest"][figure] == pytest.approx(sum(both) / 2)
    assert found["ratio"] == found["level1"]["meanr"] / found["level5"]["meanr"]
    low, high = found["ci95"]["ratio"]
    assert low < found["ratio"] < high
    assert found["n_images"] == len(split.photos)
