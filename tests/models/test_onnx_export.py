"""ONNX models give the numbers of torch, and can be used without vsdemo."""

import json
import shutil
import subprocess
import sys

import pytest
import torch

from tests.support import onnx_search
from tests.support.clips import write_clip
from vsdemo import models
from vsdemo.core import config
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import BagOfWords
from vsdemo.models import checkpoint, ensemble, onnx_export
from vsdemo.search.engine import Engine
from vsdemo.vision.backbones import find_weights
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.backbones.pocket import Pocket

CHECKPOINTS = ROOT / "checkpoints"
SIDE = Pocket.spec.size
CAPTIONS = (
    "a dog",
    "Two children, in RED shirts, play with a zorp on the slide near the sea",
    "a",
    "a man rides a bike",
)
QUERIES = ("a cat in the bedroom", "a man beside a lamp", "a red car on a beach")
FEATURES = 24
CLOSE = {"atol": 1e-4, "rtol": 0}
SMALL = ["dim=16", "word_dim=8", "min_count=1"]
VARIANTS = {  # of encoders, in addition to those of shipped models
    "gru": ["pooling=last"],
    "char_gru": ["cell=lstm", "pooling=max", "attention=16"],
    "hierarchy/photos": ["order_dim=8", "text_dim=4", "lexical_dim=2", "hidden=24"],
    "devise": ["crops=windows"],
}


def saved(folder, preset: str, *settings: str, seed: int = 0):
    """Save a small untrained model as a checkpoint."""
    torch.manual_seed(seed)
    name, of_preset = models.preset(preset)
    chosen = config.override(of_preset, [*SMALL, *settings])
    vocab = Vocab.build([Sentence(text) for text in CAPTIONS[:1] + CAPTIONS[3:]], 1, chosen.needs)
    model = models.build(name, chosen, vocab, FEATURES)
    spec = checkpoint.Spec(name, preset, "toy", chosen, "0" * 16, FEATURES)
    checkpoint.save(folder, spec, vocab, model.state_dict())
    return folder


def check_equal(folder, to) -> None:
    """Compare text, image and score of an exported checkpoint with torch."""
    model, spec, _ = checkpoint.load(folder)
    texts = model.encode_text([Sentence(text) for text in CAPTIONS]).x
    for rows in (slice(None), slice(1), slice(1, 2), slice(2, 3)):
        x = torch.from_numpy(onnx_search.embed_sentences(to, list(CAPTIONS[rows])))
        torch.testing.assert_close(x, texts[rows], **CLOSE)
    regions = (7,) if spec.config.crops == "windows" else ()
    features = torch.nn.functional.normalize(torch.rand(5, *regions, spec.features), dim=-1)
    photos = model.encode_image(features).x
    image = onnx_search.session(to / "image.onnx")
    for count in (5, 1):
        (x,) = image.run(None, {"features": features[:count].numpy()})
        torch.testing.assert_close(torch.from_numpy(x), photos[:count], **CLOSE)
    inputs = {"general": texts[:1].numpy(), "specific": photos.numpy()}
    (scores,) = onnx_search.session(to / "score.onnx").run(None, inputs)
    expected = model.score(Embeddings(texts[:1]), Embeddings(photos))[0]
    torch.testing.assert_close(torch.from_numpy(scores), expected, **CLOSE)


@torch.no_grad()
@pytest.mark.parametrize(
    "name",
    ["gru", "order", *(pytest.param(n, marks=pytest.mark.long) for n in ("bow", "char_gru"))],
)
def test_a_shipped_model_gives_the_numbers_of_torch(name, tmp_path):
    folder = CHECKPOINTS / "storybook" / name
    files = onnx_export.export_checkpoint(folder, tmp_path / "new" / "onnx")
    names = {"text.onnx", "image.onnx", "score.onnx", "checkpoint.json"}
    assert {file.name for file in files} == {f.name for f in (tmp_path / "new/onnx").iterdir()}
    assert {file.name for file in files} == names
    check_equal(folder, tmp_path / "new" / "onnx")


@torch.no_grad()
@pytest.mark.parametrize(
    "preset", [pytest.param(n, marks=() if n == "char_gru" else pytest.mark.long) for n in VARIANTS]
)
def test_a_variant_gives_the_numbers_of_torch(preset, tmp_path):
    folder = saved(tmp_path / "model", preset, *VARIANTS[preset])
    onnx_export.export_checkpoint(folder, tmp_path / "onnx")
    check_equal(folder, tmp_path / "onnx")


@torch.no_grad()
def test_an_ensemble_gives_the_numbers_of_torch(tmp_path):
    members = [saved(tmp_path / str(n), "bow", seed=n) for n in range(2)]
    ensemble.make(members, tmp_path / "both")
    onnx_export.export_checkpoint(tmp_path / "both", tmp_path / "onnx")
    check_equal(tmp_path / "both", tmp_path / "onnx")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A shipped model and its image network in one folder."""
    to = tmp_path_factory.mktemp("onnx")
    onnx_export.export_checkpoint(CHECKPOINTS / "flickr8k" / "gru-pocket", to)
    onnx_export.export_network("pocket", to)
    return to


@pytest.fixture
def in_float32(monkeypatch):
    """Compute in float32 on any machine, as the exported models do."""
    monkeypatch.setattr("vsdemo.core.device.fast_dtype", lambda: torch.float32)


@pytest.mark.long
def test_pocket_gives_the_numbers_of_torch(exported, in_float32):
    network = onnx_search.session(exported / "network.onnx")
    backbone = Backbone(find_weights("pocket"))
    for photos, views in ((1, 1), (3, 2)):
        pixels = torch.randint(256, (photos, views, 3, SIDE, SIDE), dtype=torch.uint8)
        (features,) = network.run(None, {"pixels": pixels.numpy()})
        torch.testing.assert_close(torch.from_numpy(features), backbone.encode(pixels), **CLOSE)


@pytest.mark.long
def test_a_search_without_vsdemo_ranks_photos_as_vsdemo_does(
    exported, in_float32, own_home, tmp_path
):
    folder = tmp_path / "photos"
    folder.mkdir()
    for photo in datasets.load("storybook", "test", limit=8).photos:
        shutil.copy(photo, folder)
    engine = Engine(CHECKPOINTS / "flickr8k" / "gru-pocket", str(folder))
    for query in QUERIES:
        command = [sys.executable, "-I", onnx_search.__file__, exported, query]
        printed = subprocess.check_output([*command, *sorted(folder.iterdir())])
        ranking = json.loads(printed)
        hits = engine.search(query)
        assert dict(ranking) == pytest.approx({hit.item: hit.score for hit in hits}, abs=1e-3)
        scores = [score for _, score in ranking]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.long
def test_the_json_file_says_what_is_exported(exported):
    about = json.loads((exported / "checkpoint.json").read_text(encoding="utf-8"))
    folder = CHECKPOINTS / "flickr8k" / "gru-pocket"
    assert about["checkpoint"] == "flickr8k/gru-pocket"
    assert about["content_hash"] == checkpoint.content_hash(folder)
    assert about["licence"] == "research only"
    assert about["text"]["inputs"]["ids"]["shape"] == ["sentences", "length"]
    assert about["text"]["outputs"]["embeddings"] == {
        "type": "float32",
        "shape": ["sentences", 512],
    }
    network = json.loads((exported / "network.json").read_text(encoding="utf-8"))
    assert network["network"]["inputs"]["pixels"]["shape"] == ["photos", "views", 3, SIDE, SIDE]
    assert network["views"]["whole"] == "Squeeze the whole photo into a square"
    assert network["mean"] == [0.485, 0.456, 0.406]
    assert network["licence"] == "research only"


@pytest.mark.parametrize(
    "name", ["storybook/sdt_rnn", "storybook/rnn", "storybook/fragments", "wordnet/toy"]
)
def test_models_of_trees_fragments_and_concepts_are_refused(name, tmp_path):
    with pytest.raises(UserError, match="cannot be exported to ONNX; only models that read padded"):
        onnx_export.export_checkpoint(CHECKPOINTS / name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(torch.__version__.startswith("2.8."), reason="PyTorch 2.8 records one branch")
def test_what_torch_cannot_trace_is_refused_in_one_sentence(tmp_path, monkeypatch):
    def depends_on_data(self, batch):
        return Embeddings(self.mean(batch) if batch.ids.sum() > 0 else batch.ids.float())

    monkeypatch.setattr(BagOfWords, "forward", depends_on_data)
    folder = saved(tmp_path / "model", "bow")
    with pytest.raises(UserError, match="PyTorch cannot export this model to ONNX") as caught:
        onnx_export.export_checkpoint(folder, tmp_path / "onnx")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_checkpoint_is_not_overwritten(toy_checkpoint, tmp_path):
    folder = shutil.copytree(toy_checkpoint, tmp_path / "copy")
    before = sorted(folder.iterdir())
    with pytest.raises(UserError, match="already holds a checkpoint"):
        onnx_export.export_checkpoint(folder, folder)
    assert sorted(folder.iterdir()) == before


def test_without_onnxscript_the_message_says_how_to_install_it(
    toy_checkpoint, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(UserError, match="pip install onnxscript"):
        onnx_export.export_checkpoint(toy_checkpoint, tmp_path)


def test_a_folder_that_cannot_be_made_is_reported(tmp_path):
    folder = saved(tmp_path / "model", "bow")
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(UserError, match="file/onnx cannot be written"):
        onnx_export.export_checkpoint(folder, tmp_path / "file" / "onnx")


def test_a_network_that_resizes_photos_in_its_own_way_is_refused(tmp_path):
    name = f"clip:local-dir:{write_clip(tmp_path / 'model')}"
    with pytest.raises(UserError, match="its own way to resize photos"):
        onnx_export.export_network(name, tmp_path / "onnx")


def test_an_unknown_network_is_refused(tmp_path):
    with pytest.raises(UserError, match="no backbone 'pocket/large'"):
        onnx_export.export_network("pocket/large", tmp_path)
