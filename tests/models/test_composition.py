"""Composed sentences: their text, and how a model ranks them."""

import pytest
import torch

from vsdemo import models
from vsdemo.core.config import override
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import add_trees
from vsdemo.data.text.vocab import Vocab
from vsdemo.models import composition
from vsdemo.models.captioner import Written
from vsdemo.models.composition import compose, sentence_of

pytestmark = pytest.mark.usefixtures("fake_parser")
TEXTS = ["a dog runs , happy", "two cats"]


class Fixed(torch.nn.Module):
    """A captioner that always writes the same."""

    def __init__(self, written):
        super().__init__()
        self.written = written

    def write(self, regions, *, beams):
        return [self.written[:beams]] * len(regions)


@pytest.fixture
def model():
    torch.manual_seed(0)
    name, config = models.preset("fragments_photos")
    config = override(config, ["dim=8", "word_dim=6", "units=5", "min_count=1"])
    sentences = add_trees([Sentence(text) for text in TEXTS], config.needs)
    return models.build(name, config, Vocab.build(sentences), 12).eval()


def written(model, text, log_probability=-3.0):
    return Written(tuple(model.text.vocab.ids(text.split())), log_probability)


def regions(count=1):
    return Embeddings(torch.randn(count, 4, 8), torch.ones(count, 4, dtype=torch.bool))


def test_a_sentence_has_a_capital_letter_and_a_full_stop(model):
    assert sentence_of(written(model, TEXTS[0]), model.text.vocab) == "A dog runs, happy."


def test_each_photo_has_its_sentences_with_the_scores_of_the_model(model):
    model.attach(Fixed([written(model, "two cats"), written(model, "a dog runs", -1.0)]))
    photos = regions(2)
    for row, own in enumerate(compose(model, photos)):
        assert {composed.text for composed in own} == {"Two cats.", "A dog runs."}
        ranks = [composed.rank for composed in own]
        assert ranks == sorted(ranks, reverse=True)
        for composed in own:
            embedded = model.encode_text([Sentence(composed.text)])
            expected = model.score(embedded, photos[row : row + 1]).item()
            assert composed.score == pytest.approx(expected, abs=1e-5)
    assert len(compose(model, photos, beams=1)[0]) == 1


def test_what_no_region_shows_counts_against_a_sentence(model, monkeypatch):
    monkeypatch.setattr(composition, "SCORE_WEIGHT", 0.0)
    monkeypatch.setattr(composition, "ABSENT_WEIGHT", 1.0)
    model.attach(Fixed([written(model, "two cats")]))
    shares = {}
    for limit in (-2.0, 2.0):
        model.presence = limit
        ((composed,),) = compose(model, regions())
        shares[limit] = composed.absent
        assert composed.rank == pytest.approx(composed.likelihood - composed.absent)
    assert shares == {-2.0: 0.0, 2.0: 1.0}


def test_a_model_without_a_captioner_says_what_to_do(model):
    with pytest.raises(UserError, match="train-captioner"):
        compose(model, regions())
