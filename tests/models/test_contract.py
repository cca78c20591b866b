"""The contract of models: what every preset of every registered model must do.

A model of another package, `toy` in tests/support/toy_model.py, passes the same tests.
"""

import json
import re

import pytest
import torch

from vsdemo import models
from vsdemo.core import four_bits
from vsdemo.core.config import from_json, override, settings_of
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import add_trees
from vsdemo.data.text.vocab import Vocab
from vsdemo.evaluation.metrics import retrieval
from vsdemo.models import checkpoint, losses
from vsdemo.models.contrast import PhotoLabels
from vsdemo.models.grounding import PhraseLabels
from vsdemo.models.hubness import bank_sizes
from vsdemo.models.truth_loss import TruthLabels
from vsdemo.training import preflight

CAPTIONS = (
    "a red dog runs",
    "two dogs run",
    "a child in the snow",
    "the blue sea",
    "a man on a bike",
    "a woman on a bike",
    "snow on the sea",
    "one red bike",
)
FEATURES = 24
SMALL = ["dim=16", "word_dim=8", "min_count=1", "dropout=0"]
OWN = [
    "order_dim=8",
    "text_dim=4",
    "lexical_dim=2",
    "hidden=24",
    "landmarks=8",
    "word_dropout=0",
    "photo_dropout=0",
    "units=24",
    "attention=16",
    "width=16",
    "layers=1",
    "letter_rows=500",
]
# Presets that differ from others only in settings that this file overrides or does not use.
SAME_WHEN_SMALL = ("bow/lesson", "char_gru/2048", "char_gru/4096", "order/one_crop")

TOY = "tests.support.toy_model:TOY"
OF_PHOTOS = [  # the others are trained in tests/training
    name for name, (_, config) in models.presets().items() if preflight.uses_photos(config)
]
every_preset = pytest.mark.parametrize("preset", [*OF_PHOTOS, "toy"])
every_model = pytest.mark.parametrize("name", [*models.MODELS, "toy"])

pytestmark = pytest.mark.usefixtures("fake_parser")


@pytest.fixture(autouse=True)
def toy_model(monkeypatch):
    """The model of another package, registered for a test."""
    monkeypatch.setattr(models, "MODELS", dict(models.MODELS))
    models.register("toy", TOY)


@pytest.fixture
def built(fake_parser):
    """preset, settings -> (configuration, vocabulary, a small untrained model)."""

    def build(preset: str, *settings: str):
        torch.manual_seed(0)
        name, config = models.preset(preset)
        own = [setting for setting in OWN if getattr(config, setting.partition("=")[0], 0)]
        config = override(config, [*SMALL, *own, *settings])
        sentences = add_trees([Sentence(c) for c in CAPTIONS], config.needs)
        vocab = Vocab.build(sentences, needs=config.needs)
        return config, vocab, models.build(name, config, vocab, FEATURES)

    return build


@pytest.fixture
def features():
    x = torch.randn(len(CAPTIONS), FEATURES, generator=torch.Generator().manual_seed(1))
    return torch.nn.functional.normalize(x.relu(), dim=1)


def rsum(model, features) -> float:
    captions = model.encode_text([Sentence(c) for c in CAPTIONS])
    photos, owner = model.encode_image(features), torch.arange(len(CAPTIONS))
    return retrieval.ranks(model, captions, photos, owner).metrics()["rsum"]


@pytest.mark.parametrize("preset", [p for p in (*OF_PHOTOS, "toy") if p not in SAME_WHEN_SMALL])
def test_a_preset_memorizes_eight_pairs(built, features, preset):
    config, _, model = built(preset)
    assert rsum(model, features) < 560  # of 600: the model is untrained
    sentences = add_trees([Sentence(c) for c in CAPTIONS], model.text.needs)
    captions = model.text.prepare(sentences)
    if model.solved:
        model.fit(captions, features)
    else:
        train(model, config, captions, features)
    assert rsum(model, features) == 600


def train(model, config, captions, features) -> None:
    loss = losses.build(config)
    words = model.text.collate(captions)
    rate = 0.005 if config.material == "scenes" else 0.02  # its logits are steep
    optimizer, label = torch.optim.Adam(model.parameters(), lr=rate), torch.arange(len(CAPTIONS))
    shares = torch.full((len(label),), 1 / len(label))
    known = {  # material -> what an objective needs to know
        "scenes": TruthLabels(label, torch.eye(len(label)), shares=shares),
        "tuned_photos": PhotoLabels(label),
        "phrases": PhraseLabels(
            label, torch.stack([label, torch.ones_like(label)], 1), torch.ones(len(label), 1)
        ),
    }
    for step in range(150):
        # A constant rate would leave differences between processors at the end.
        optimizer.param_groups[0]["lr"] = rate * min(1, (150 - step) / 50)
        inputs = model.score, model.text(words), model.image(features)
        if config.material in known:
            parts = model.objective(*inputs, known[config.material])
        else:
            parts = loss(*inputs, label, step / 150)
        optimizer.zero_grad()
        parts["loss"].backward()
        optimizer.step()


@every_preset
def test_a_checkpoint_is_the_model_rounded(built, features, preset, tmp_path):
    config, vocab, model = built(preset)
    features *= 1e-3
    for _ in range(200):  # collects variances too small for half precision
        model.image(features)
    spec = checkpoint.Spec(models.preset(preset)[0], preset, "toy", config, "0" * 16, FEATURES)
    checkpoint.save(tmp_path, spec, vocab, model.state_dict())
    loaded, loaded_spec, loaded_vocab = checkpoint.load(tmp_path)
    assert (loaded_spec, loaded_vocab) == (spec, vocab)

    state = model.state_dict()
    if config.four_bits:
        model.load_state_dict(four_bits.decode(four_bits.encode(state)))
    else:
        for weights in state.values():
            if weights.dim() > 1:
                weights.copy_(weights.half())
    sentences = [Sentence(c) for c in (*CAPTIONS, "a zebra")]
    if model.text.needs in ({"words"}, {"chars"}):  # a text without a word has no tree
        sentences.append(Sentence(""))
    assert torch.equal(loaded.encode_text(sentences).x, model.encode_text(sentences).x)
    assert torch.equal(loaded.encode_image(features).x, model.encode_image(features).x)
    assert loaded.score is model.score


@every_preset
def test_encoders_agree_with_each_other_and_with_the_configuration(built, preset):
    config, _, model = built(preset)
    dim = config.dim + bool(bank_sizes(model))  # a hub is one more number
    assert model.text.dim == model.image.dim == dim
    assert model.text.needs == config.needs <= {"words", "chars", "dep_tree", "const_tree"}
    assert model.image.needs in ({"vector"}, {"regions"})
    assert model.encode_text([]).x.shape == model.encode_image(torch.zeros(0, FEATURES)).x.shape
    assert model.encode_text([Sentence("a dog")]).x.shape[-1] == dim


@every_preset
def test_a_model_that_aligns_says_so(built, preset):
    assert models.get(models.preset(preset)[0]).aligns == built(preset)[2].score.can_align


@every_preset
def test_encoding_keeps_order_and_training_mode(built, preset, monkeypatch):
    monkeypatch.setattr("vsdemo.models.dual_encoder.BATCH", 3)
    _, _, model = built(preset)
    sentences, seen = [Sentence(c) for c in CAPTIONS], []
    x = model.train().encode_text(sentences, progress=lambda done, of: seen.append((done, of))).x
    alone = Embeddings.cat([model.encode_text([s]) for s in sentences]).x
    torch.testing.assert_close(x, alone, atol=1e-6, rtol=0)
    assert seen == [(3, 8), (6, 8), (8, 8)]
    assert model.training


@every_preset
def test_an_unknown_setting_lists_the_valid_ones(preset):
    _, config = models.preset(preset)
    with pytest.raises(UserError, match=r"'dimm'; valid settings are .*batch_size.*dim.*word_dim"):
        override(config, ["dimm=3"])


@every_preset
@pytest.mark.parametrize(
    "setting", ["dim=0", "word_dim=0", "epochs=0", "patience=0", "dropout=1", "word_dim=-1"]
)
def test_an_invalid_setting_is_refused(preset, setting):
    with pytest.raises(UserError, match=setting.partition("=")[0]):
        override(models.preset(preset)[1], [setting])


@every_preset
def test_a_configuration_survives_json(preset):
    name, config = models.preset(preset)
    values = json.loads(json.dumps(config.model_dump()))
    assert from_json(models.get(name).config, values) == config


@every_model
def test_every_setting_has_a_description_and_a_valid_default(name):
    for setting in settings_of(models.get(name).config()).values():
        assert len(setting.description) > 5, setting.name
        assert setting.value in (setting.choices or [setting.value]), setting.name
        assert type(setting.value) is setting.kind, setting.name
        if setting.is_number:
            assert setting.minimum <= setting.value <= setting.maximum, setting.name


@every_model
def test_a_model_cites_its_paper_and_states_equation_and_departures(name):
    model = models.get(name)
    text = model.description
    assert re.search(r'"[^"]{20,}",\s[^"]*\b(19|20)\d\d\b', text), "no citation"
    assert re.search(r"^ {4}\S.* = ", text, re.MULTILINE), "no equation"
    assert "Departures: (1)" in text
    assert model.summary.endswith(".")


def test_unknown_names_list_the_valid_ones():
    with pytest.raises(UserError, match=r"'clap'; valid presets are .*order/one_crop.*toy"):
        models.preset("clap")
    first = r"'clap'; valid models are bow, gru, order, hierarchy, meru, cones, rnn.*toy"
    with pytest.raises(UserError, match=first):
        models.get("clap")


def test_a_preset_carries_the_name_of_its_model():
    assert "toy" in models.presets()
    for preset, (name, config) in models.presets().items():
        assert preset.split("/")[0] == name
        assert type(config) is models.get(name).config


def test_a_name_is_registered_once():
    models.register("toy", TOY)
    with pytest.raises(ValueError, match="'gru' is registered already"):
        models.register("gru", TOY)


def test_only_a_solved_model_is_fitted(built):
    for preset in ("kcca", "gru"):
        _, _, model = built(preset)
        assert model.solved == (preset == "kcca")
    with pytest.raises(TypeError, match="gradient steps"):
        model.fit([], torch.zeros(0, FEATURES))
