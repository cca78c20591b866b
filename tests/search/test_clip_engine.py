"""A model of open_clip does what every model does: search, describe, compare, walk, export."""

import pytest
import torch

import vsdemo
from tests.support.clips import write_clip
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.data import datasets
from vsdemo.evaluation.evaluate import evaluate
from vsdemo.models import checkpoint_names
from vsdemo.search import hierarchies
from vsdemo.search.engine import Engine, Reader
from vsdemo.search.sentence_comparison import compare_sentences
from vsdemo.vision.features import MAP, FeatureCache

QUERY = "a red circle on a blue ground"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_clip(tmp_path_factory.mktemp("clip") / "tiny")


@pytest.fixture
def folder(source, own_home):
    return checkpoint_names.find(f"clip:local-dir:{source}")


@pytest.fixture
def engine(folder):
    return Engine(folder, "toy")


def test_search_is_exact(engine):
    text = engine.encode(QUERY).x
    photos = engine.photos.embeddings.x.cpu()
    expected = (photos @ text[0]).argsort(descending=True)
    hits = engine.search(QUERY, 4)
    assert [hit.number for hit in hits] == expected[:4].tolist()
    assert all(hit.unit_score == pytest.approx(max(0, hit.score)) for hit in hits)


def test_photos_are_described_and_compared(engine):
    photo = open_photo(engine.gallery.photos[3])
    described, of_gallery = engine.describe(photo, 3).hits, engine.describe_photo(3, 3).hits
    assert [hit.item for hit in described] == [hit.item for hit in of_gallery]
    # The sums of a batch of one are rounded otherwise on some processors.
    scores = [hit.score for hit in of_gallery]
    assert [hit.score for hit in described] == pytest.approx(scores, abs=1e-6)
    assert engine.photos_like(photo, 3)[0].number == 3
    assert 3 not in [hit.number for hit in engine.similar_photos(3, 3)]


def test_words_after_the_context_are_named(engine):
    words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"]
    ignored = engine.unread_words(" ".join(words))
    assert [word.word for word in ignored] == words[10:]  # of 12 tokens, two mark start and end
    assert all(word.is_ignored for word in ignored)
    assert engine.unread_words("a dog") == []


def test_it_cannot_align(engine):
    with pytest.raises(UserError, match="use a model of fragments"):
        engine.align_photo(0, QUERY)


def test_sentences_are_compared(folder):
    assert compare_sentences(Reader(folder), "a dog", "a dog").cosine == pytest.approx(1, abs=1e-5)


def test_it_is_measured_on_any_data_set(folder):
    result = evaluate(folder, "test", dataset="toy")
    assert 0 <= result["rsum"] <= 600


def test_its_hierarchy_leads_to_the_root(engine):
    hierarchy = hierarchies.build_hierarchy(engine)
    lengths = hierarchy.x.norm(dim=1)
    assert lengths[0] == 0
    assert lengths[1:].min() > 0
    angles = hierarchy.order.violation(Embeddings(hierarchy.x[:1]), Embeddings(hierarchy.x[1:]))
    assert angles.max() == 0  # the root is above everything


def test_other_models_train_on_its_features(source, own_home):
    photos = datasets.load("toy", "test").photos
    backbone = f"clip:local-dir:{source}"
    vectors = FeatureCache(backbone, "own").get(photos)
    assert vectors.shape == (len(photos), 24)
    assert vectors.dtype == torch.float32
    regions = FeatureCache(backbone, "windows").get(photos)
    assert regions.shape == (len(photos), 21, 32)
    assert FeatureCache(backbone, "own").get(photos, MAP).shape == (len(photos), 32, 4, 4)


def test_the_library_loads_it(source, own_home):
    model = vsdemo.load(f"clip:local-dir:{source}")
    photos = datasets.load("toy", "test").photos[:3]
    assert model.encode_text(["a dog", "a cat"]).shape == (2, 24)
    assert model.score(["a dog", "a cat"], list(photos)).shape == (2, 3)
