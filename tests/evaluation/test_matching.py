"""The threshold below which nothing in a gallery matches a sentence."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.support.small_runs import trainer
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.near_words import WordList
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.hubness import hub_head
from vsdemo.encoders.image import LinearImage
from vsdemo.evaluation import matching
from vsdemo.evaluation.evaluate import load_photos
from vsdemo.evaluation.matching import MatchThreshold
from vsdemo.models import checkpoint
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.hubness import correct_hubs
from vsdemo.models.scores import SCORES

thresholds = st.dictionaries(st.integers(1, 9000), st.floats(0, 1), min_size=1, max_size=6)


LONG, SHORT = "a red circle on a blue ground", "a circle"


def of(scores, short_scores=None) -> MatchThreshold:
    long, short = (dict(sorted(s.items())) for s in (scores, short_scores or scores))
    return MatchThreshold(long, short, dataset="toy", split="dev", sentences=7)


@pytest.fixture(scope="module")
def toy(toy_checkpoint):
    """Return the model, the split with all photos, and the photos' embeddings."""
    model, spec, _ = checkpoint.load(toy_checkpoint)
    data = load_photos(spec, "all")
    return model, data.split, model.encode_image(data.features)


def test_the_threshold_is_linear_in_the_logarithm_of_the_size():
    threshold = of({100: 0.2, 1000: 0.5})
    assert threshold.at(100, LONG) == pytest.approx(0.2)
    assert threshold.at(316, LONG) == pytest.approx(0.35, abs=1e-3)
    assert threshold.at(1000, LONG) == pytest.approx(0.5)


def test_the_slope_is_the_same_below_all_sizes_and_half_of_it_above():
    threshold = of({100: 0.2, 1000: 0.25, 10_000: 0.35})
    assert threshold.at(10, LONG) == pytest.approx(0.15)
    assert threshold.at(100_000, LONG) == pytest.approx(0.4)
    assert of({100: 0.1, 1000: 0.5}).at(1, LONG) == 0


@given(thresholds, st.integers(0, 100_000))
def test_thresholds_are_never_negative_and_exact_at_their_sizes(scores, photos):
    threshold = of(scores)
    assert threshold.at(photos, LONG) >= 0
    for size, score in scores.items():
        assert threshold.at(size, LONG) == pytest.approx(score, abs=1e-6)


@given(thresholds)
def test_thresholds_survive_their_file(scores):
    again = MatchThreshold.from_json(json.loads(json.dumps(of(scores).to_json())))
    assert again.scores == pytest.approx(of(scores).scores, abs=1e-4)
    assert list(again.scores) == sorted(scores)
    assert again.short_scores == again.scores
    assert replace(again, scores={}, short_scores={}) == replace(
        of(scores), scores={}, short_scores={}
    )


@given(st.lists(st.integers(), max_size=50), st.integers(1, 60))
def test_spread_takes_numbers_in_order_from_end_to_end(captions, count):
    taken = matching.spread(captions, count)
    assert len(taken) == min(count, len(captions))
    if count >= len(captions):
        assert taken == captions
    elif count > 1:
        assert (taken[0], taken[-1]) == (captions[0], captions[-1])


def test_a_match_score_is_the_best_unit_score_times_the_known_share(toy):
    model, _, photos = toy
    texts = ["a red circle", "a red wug", "wug dax"]
    scores = matching.match_scores(model, texts, photos)
    sentences = [Sentence(text) for text in texts]
    best = model.score.to_unit(model.score(model.encode_text(sentences), photos)).amax(1)
    assert scores.tolist() == pytest.approx((best * torch.tensor([1, 2 / 3, 0])).tolist())


def test_what_a_sentence_adds_to_all_scores_does_not_count_as_a_match():
    vocab = Vocab.build([Sentence("dog")], 1)
    image = LinearImage(3, 4)
    plain = DualEncoder(BagOfWords(vocab, word_dim=3, dim=4), image, SCORES["cosine"])
    model = correct_hubs(plain, 8).eval()
    photos = model.encode_image(torch.eye(3))
    before = matching.match_scores(model, ["dog"], photos)
    hub_head(model.text).mean.fill_(-3.0)  # so the sentence is similar to nearly every photo
    assert model.encode_text([Sentence("dog")]).x[0, -1] > 2
    torch.testing.assert_close(matching.match_scores(model, ["dog"], photos), before)


def test_characters_know_the_stored_words_and_words_like_them(own_folders, tmp_path):
    trainer(tmp_path / "run", "epochs=1", preset="char_gru").run()
    model, _, _ = checkpoint.load(tmp_path / "run")
    texts = ["a red circle", "a rde circles 3", "red wug blick dax", "犬"]
    assert matching.known_shares(model, texts).tolist() == [1, 1, 1, 0]
    model.text.training_words = WordList(["red", "circle"])
    assert matching.known_shares(model, texts).tolist() == [1, 1, 0.25, 0]


@pytest.mark.parametrize(
    ("caption", "start"),
    [
        ("A man in a red shirt.", "a man"),
        ("Two dogs play.", "two dogs play"),
        ("A dog.", "a dog"),
        ("There is a dog", ""),
        ("Dogs", ""),
        ("The and of a", ""),
        ("", ""),
    ],
)
def test_an_opening_is_a_short_query(caption, start):
    assert matching.opening(caption) == start
    assert matching.is_short(start)


def test_short_queries_have_a_threshold_of_their_own():
    threshold = of({10: 0.4, 100: 0.6}, {10: 0.1, 100: 0.2})
    assert (threshold.at(10, LONG), threshold.at(10, SHORT)) == (0.4, 0.1)
    assert (threshold.at(100, LONG), threshold.at(100, SHORT)) == pytest.approx((0.6, 0.2))


def test_few_captions_of_the_calibration_are_below_the_threshold(toy):
    model, split, photos = toy
    result = matching.calibrate(model, split, photos, captions=range(len(split.captions)))
    long = [text for text in split.captions if not matching.is_short(text)]
    short = [start for text in split.captions if (start := matching.opening(text))]
    for texts in (long, short):
        threshold = result.at(len(photos), texts[0])
        scores = matching.match_scores(model, texts, photos).numpy()
        assert np.quantile(scores, matching.QUANTILE) == pytest.approx(threshold, abs=1e-6)
        assert (scores < threshold - 1e-6).mean() <= matching.FALSE_ALARMS


def test_bars_run_from_photos_of_others_to_the_best_own_photos(toy):
    model, split, photos = toy
    result = matching.calibrate(model, split, photos, captions=range(len(split.captions)))
    pairs = [
        (text, photo)
        for text, photo in zip(split.captions, split.photo_of, strict=True)
        if not matching.is_short(text)
    ]
    sentences = model.encode_text([Sentence(text) for text, _ in pairs])
    unit = model.score.to_unit(model.score(sentences, photos)).numpy()
    owner = np.array([photo for _, photo in pairs])
    own = unit[np.arange(len(pairs)), owner]
    is_own = np.arange(len(photos)) == owner[:, None]
    scale = result.bar_scale
    assert (unit[~is_own] <= scale.empty + 1e-4).mean() == pytest.approx(0.9, abs=0.02)
    assert (own < scale.full - 1e-4).mean() == pytest.approx(0.95, abs=0.03)
    again = MatchThreshold.from_json(json.loads(json.dumps(result.to_json())))
    assert again.bar_scale == scale


def test_files_without_a_scale_of_bars_are_still_read():
    values = of({10: 0.4}).to_json()
    del values["bar_scale"]
    assert MatchThreshold.from_json(values).bar_scale is None


def test_a_photo_alone_gives_no_scale_of_bars(toy):
    model, split, photos = toy
    one = replace(split, photos=split.photos[:1], captions=split.captions[:1], photo_of=[0])
    assert matching.calibrate(model, one, photos[:1], captions=[0]).bar_scale is None


def test_larger_galleries_have_higher_thresholds(toy):
    model, split, photos = toy
    captions = range(len(split.captions))
    result = matching.calibrate(model, split, photos, captions=captions, sizes=(2, 10, 20, 99))
    assert list(result.scores) == [2, 10, 20, 40]
    for scores in (result.scores, result.short_scores):
        assert list(scores.values()) == sorted(scores.values())
    assert (result.dataset, result.split, result.sentences) == ("toy", "all", 200)


def test_a_caption_counts_with_its_own_photo(toy):
    """In a gallery of one photo, the score is that of the caption's own or of the drawn photo."""
    model, split, photos = toy
    result = matching.calibrate(model, split, photos, captions=[7], sizes=[1])
    own = photos[split.photo_of[7] : split.photo_of[7] + 1]
    score = matching.match_scores(model, [split.captions[7]], own)
    assert result.scores[1] >= float(score) - 1e-6
