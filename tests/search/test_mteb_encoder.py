"""A model as an encoder of mteb: by mteb itself where it is installed, and by its protocol."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader

import vsdemo
from vsdemo.core.errors import UserError
from vsdemo.data import storybook
from vsdemo.data.storybook import store

TEXTS = ["a red car on a beach", "a dog", "two children play with a ball in the park"]
ARGUMENTS: dict[str, Any] = {"task_metadata": None, "hf_split": "test", "hf_subset": "default"}


@runtime_checkable
class EncoderProtocol(Protocol):
    """That of mteb 2."""

    def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs): ...
    def similarity(self, embeddings1, embeddings2): ...
    def similarity_pairwise(self, embeddings1, embeddings2): ...
    @property
    def mteb_model_meta(self): ...


@pytest.fixture
def fake_mteb(monkeypatch):
    """Stand in for the part of mteb that describes models."""
    modules = {"mteb": ModuleType("mteb"), "mteb.models": ModuleType("mteb.models")}
    modules["mteb.models"].ModelMeta = SimpleNamespace(
        create_empty=lambda overwrites: SimpleNamespace(**overwrites)
    )
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture(scope="module")
def model():
    return vsdemo.load("storybook/gru")


@pytest.fixture(scope="module")
def encoder(model):
    return vsdemo.mteb_encoder(model)


@pytest.fixture(scope="module")
def images():
    """As mteb has them: images of Pillow."""
    return [Image.open(photo) for photo in storybook.drawn(store.SPLITS["test"][:3]).photos]


def batches(**columns):
    """Return a DataLoader as mteb makes it: batches of two, each column a list."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return DataLoader(rows, 2, collate_fn=lambda part: {k: [r[k] for r in part] for k in columns})


def test_it_follows_the_protocol(encoder, fake_mteb):
    assert isinstance(encoder, EncoderProtocol)


def test_results_are_filed_under_the_checkpoint(encoder, model, fake_mteb):
    meta = encoder.mteb_model_meta
    assert meta.name == "vsdemo/gru"
    assert meta.revision == model.reader.content_hash
    assert meta.modalities == ["text", "image"]
    sets = vsdemo.mteb_encoder(vsdemo.load("storybook/fragments"))
    assert sets.mteb_model_meta.modalities == ["text"]
    concepts = vsdemo.mteb_encoder(vsdemo.load("wordnet/order"))
    assert (concepts.mteb_model_meta.name, concepts.mteb_model_meta.modalities) == (
        "vsdemo/hypernyms-near",
        ["text"],
    )


def test_texts_of_all_batches_become_rows(encoder, model):
    rows = encoder.encode(batches(text=TEXTS), **ARGUMENTS, prompt_type="query", batch_size=2)
    np.testing.assert_allclose(rows, model.encode(TEXTS, normalize_embeddings=True), atol=1e-5)


def test_images_of_all_batches_become_rows(encoder, model, images):
    rows = encoder.encode(batches(image=images), **ARGUMENTS)
    np.testing.assert_allclose(rows, model.encode_image(images), atol=1e-5)


def test_the_similarity_of_texts_and_images_is_the_score_of_the_model(encoder, model, images):
    texts = encoder.encode(batches(text=TEXTS), **ARGUMENTS)
    rows = encoder.encode(batches(image=images), **ARGUMENTS)
    scores = encoder.similarity(texts, torch.as_tensor(rows))
    np.testing.assert_allclose(scores, model.score(TEXTS, images), atol=1e-5)
    np.testing.assert_allclose(encoder.similarity_pairwise(texts, rows), scores.diag(), atol=1e-6)
    np.testing.assert_allclose(encoder.similarity(texts[0], rows)[0], scores[0], atol=1e-6)


def test_an_item_with_text_and_image_lies_between_both(encoder, images):
    both = encoder.encode(batches(text=TEXTS, image=images), **ARGUMENTS)
    texts, rows = (
        encoder.encode(batches(**column), **ARGUMENTS)
        for column in (
            {"text": TEXTS},
            {"image": images},
        )
    )
    np.testing.assert_allclose(np.linalg.norm(both, axis=1), 1, atol=1e-6)
    to_texts = encoder.similarity_pairwise(both, texts)
    np.testing.assert_allclose(to_texts, encoder.similarity_pairwise(both, rows), atol=1e-5)


def test_texts_and_images_of_a_model_with_an_order_have_one_length(images):
    encoder = vsdemo.mteb_encoder(vsdemo.load("storybook/hierarchy"))
    texts = encoder.encode(batches(text=TEXTS), **ARGUMENTS)
    assert texts.shape == encoder.encode(batches(image=images), **ARGUMENTS).shape


def test_a_model_of_sets_encodes_sentences_only(images):
    encoder = vsdemo.mteb_encoder(vsdemo.load("storybook/fragments"))
    assert encoder.encode(batches(text=TEXTS), **ARGUMENTS).shape == (3, 200)
    with pytest.raises(UserError, match="has a set of vectors"):
        encoder.encode(batches(image=images), **ARGUMENTS)


def test_what_the_models_do_not_read_is_refused(encoder):
    with pytest.raises(UserError, match="read text and images, not audio"):
        encoder.encode(batches(audio=[1, 2]), **ARGUMENTS)
    with pytest.raises(UserError, match="nothing to encode"):
        encoder.encode([], **ARGUMENTS)


def test_mteb_itself_takes_it(encoder, model):
    mteb = pytest.importorskip("mteb")
    from mteb.models.models_protocols import EncoderProtocol as Protocol

    assert mteb.__version__ >= "2"
    assert isinstance(encoder, Protocol)
    assert encoder.mteb_model_meta.revision == model.reader.content_hash
