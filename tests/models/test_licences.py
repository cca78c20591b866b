"""The licence of a checkpoint follows from what its weights learned from."""

from dataclasses import replace

import pytest

from vsdemo import models
from vsdemo.core.config import override
from vsdemo.core.paths import ROOT
from vsdemo.models import checkpoint, licences


def shipped(name):
    return checkpoint.read_spec(ROOT / "checkpoints" / name)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("flickr8k/gru", "research only"),
        ("flickr8k/char_gru", "research only"),
        ("flickr8k/hierarchy", "research only"),
        ("storybook/gru", "MIT; its image network: research only"),
        ("storybook/kcca", "research only"),  # word vectors from captions of Flickr30k
        ("wordnet/order", "WordNet licence"),
        ("wordnet/toy", "MIT"),
    ],
)
def test_label_of_a_shipped_checkpoint(name, label):
    assert licences.label(shipped(name)) == label


def test_a_seeded_split_has_the_licence_of_its_data_set():
    spec = replace(shipped("flickr8k/gru"), dataset="pascal1k")
    assert licences.of(spec).hub_name == "pascal1k-research-only"
    assert licences.of(replace(spec, dataset="pascal1k:3")) == licences.of(spec)


def test_own_data_have_their_own_terms():
    spec = replace(shipped("storybook/gru"), dataset="holiday")
    assert licences.of(spec).terms == "the data set's own terms"
    assert licences.of(spec).metadata() == {}


def test_extra_photos_are_research_only():
    spec = shipped("storybook/gru")
    with_extra = replace(spec, config=override(spec.config, ["extra=everyday"]))
    licence = licences.of(with_extra)
    assert licence.label == "research only"
    assert licence.terms.startswith("Storybook, MIT as part of vsdemo; photos of Pascal1K")


def test_pretrained_word_vectors_are_research_only():
    spec = replace(shipped("storybook/kcca"), dataset="holiday")
    licence = licences.of(spec)
    assert licence.label == "research only"
    assert "the data set's own terms; word vectors from captions of Flickr30k" in licence.terms


def test_captions_of_other_photos_are_research_only():
    model, config = models.preset("vse_photos")
    spec = replace(shipped("storybook/gru"), model=model, config=config)
    assert licences.label(spec) == "research only"
    assert "captions of Flickr30k" in licences.of(spec).terms
    without = replace(spec, config=override(config, ["text_epochs=0", "pair_weight=0"]))
    assert licences.label(without) == "MIT; its image network: BSD-3-Clause"


def test_boxes_of_phrases_have_their_own_terms():
    named = "boxes of Flickr30k Entities"
    assert named in licences.of(shipped("flickr8k/fragments-boxes")).terms
    assert named not in licences.of(shipped("flickr8k/fragments")).terms
    drawn = replace(shipped("flickr8k/fragments-boxes"), dataset="storybook", teacher=None)
    assert licences.of(drawn).terms == "Storybook, MIT as part of vsdemo"


def test_a_tuned_network_has_the_licence_of_its_checkpoint():
    assert licences.of_network("tuned:wordnet/toy") == licences.of(shipped("wordnet/toy"))
    assert licences.of_network("tuned:nowhere").label == "see its source"


@pytest.mark.parametrize(
    ("name", "teacher", "label"),
    [
        ("storybook/gru", "storybook/clip", "MIT"),
        ("storybook/gru", "flickr8k/gru", "research only"),
        ("flickr8k/gru", "storybook/clip", "research only"),
        ("storybook/kcca", "storybook/clip", "research only"),
    ],
)
def test_a_taught_model_has_the_stricter_licence(name, teacher, label):
    spec = replace(shipped(name), teacher=shipped(teacher))
    licence, taught = licences.of(spec), licences.of(shipped(teacher))
    assert licence.label == label
    assert licence.terms.endswith(f"; a teacher that learned from {taught.terms}")
    of_ensemble = replace(shipped(name), members=(shipped(name), spec))
    assert licences.of(of_ensemble) == licence


def test_an_unknown_licence_of_a_teacher_is_not_free():
    clip = replace(shipped("storybook/clip"), dataset="")  # learned from photos of the web
    licence = licences.of(replace(shipped("storybook/gru"), teacher=clip))
    assert licence.label == "see its data"
    assert licence.metadata() == {}


@pytest.mark.parametrize(
    ("backbone", "label"),
    [
        ("torchvision/densenet169", "MIT; its image network: BSD-3-Clause"),
        ("clip:ViT-B-32/openai", "MIT; its image network: see its source"),
        ("easel", "MIT"),  # it is the same
    ],
)
def test_label_names_another_licence_of_the_backbone(backbone, label):
    spec = shipped("storybook/gru")
    config = spec.config.model_copy(update={"backbone": backbone})
    assert licences.label(replace(spec, config=config)) == label


def test_label_names_the_same_licence_once(monkeypatch):
    spec = shipped("storybook/gru")
    monkeypatch.setitem(licences.BACKBONES, "drawer", licences.of(spec))
    config = spec.config.model_copy(update={"backbone": "drawer"})
    assert licences.label(replace(spec, config=config)) == "MIT"


def test_sentence_pairs_have_the_licence_of_their_corpora():
    model, config = models.preset("order/entailment")
    spec = replace(shipped("wordnet/toy"), model=model, config=config, dataset="snli")
    assert licences.label(spec) == "CC BY-SA 4.0"
    assert licences.label(replace(spec, dataset="sick+snli-dev")) == "CC BY-NC-SA 3.0"
