"""What the page says that shipped models have seen."""

from pathlib import Path

import pytest

from vsdemo.evaluation.report import seen
from vsdemo.models import checkpoint

CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"


@pytest.mark.parametrize(
    ("name", "features", "photos", "text"),
    [
        ("flickr8k/gru", "DenseNet-169, ten crops", "flickr8k", "-"),
        (
            "flickr8k/vse",
            "DenseNet-169, end tuned, whole photo and its mirror image",
            "flickr8k",
            "captions of Flickr30k",
        ),
        (
            "flickr8k/char_gru",
            "that of `flickr8k/vse`, whole photo and its mirror image",
            "flickr8k",
            "captions of Flickr30k, through the features",
        ),
        (
            "flickr8k/order",
            "that of `flickr8k/vse`, whole photo and its mirror image",
            "flickr8k",
            "captions of Flickr30k, through the features, scores of `flickr8k/vse`",
        ),
        (
            "flickr8k/fragments-boxes",
            "Finder (boxes of Flickr30k Entities), regions",
            "flickr8k",
            "captions of Flickr30k, through the features, boxes of phrases, "
            "scores of `flickr8k/vse`",
        ),
        (
            "flickr8k/vse-pocket",  # best before its end was tuned
            "Pocket, whole photo and its mirror image",
            "flickr8k",
            "captions of Flickr30k",
        ),
        (
            "flickr8k/gru-pocket",
            "Pocket, whole photo",
            "flickr8k, Pascal1K, ImageNet",
            "names of classes",
        ),
        (
            "storybook/sdt_rnn",
            "Pocket, whole photo",
            "storybook",
            "word vectors of Flickr30k, tuned",
        ),
        ("storybook/clip", "a tower of its own", "other scenes of storybook", "-"),
        (
            "storybook/hierarchy",
            "Pocket, whole photo",
            "storybook",
            "concepts, what follows from captions",
        ),
        (
            "storybook/vse",
            "Easel (boxes of Storybook), the things in it",
            "storybook, 30,000 other scenes",
            "sentences as people type them, labels of truth",
        ),
        ("wordnet/order", "", "wordnet", "-"),
    ],
)
def test_features_photos_and_text_are_told_apart(name, features, photos, text):
    spec = checkpoint.read_spec(CHECKPOINTS / name)
    assert seen.features(spec) == features
    assert seen.photos(spec) == photos
    assert seen.text(spec) == text
