"""CLIP gives the scores of open_clip, says what it cuts, and orders items around its root."""

import math
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from tests.support.clips import write_clip
from vsdemo import models
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.core.sentences import Sentence
from vsdemo.models import checkpoint, clip
from vsdemo.models.pretrained import folder_of
from vsdemo.models.scores import RADIAL
from vsdemo.vision.backbones import network

TEXTS = ["a dog", "A red car in the rain, seen from above.", "", "zwölf Boxkämpfer"]
pytestmark = pytest.mark.usefixtures("float32", "own_home")


@pytest.fixture
def float32(monkeypatch):
    """Both towers compute in float32, as plain open_clip does."""
    for module in (clip, network):
        monkeypatch.setattr(module, "autocast", nullcontext)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_clip(tmp_path_factory.mktemp("clip") / "tiny")


@pytest.fixture
def photos(tmp_path):
    draw = np.random.default_rng(0)
    paths = [tmp_path / f"{number}.png" for number in range(3)]
    for number, path in enumerate(paths):
        pixels = draw.integers(0, 256, (50 + 30 * number, 80, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path)
    return paths


def plain_scores(source, texts, paths, **options):
    """Cosines by open_clip alone, (T, P)."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model, transform = (
            open_clip.create_model_from_pretrained(source)
            if ":" in source
            else open_clip.create_model_and_transforms(source, **options)[::2]
        )
    model.eval()
    with torch.no_grad():
        text = model.encode_text(open_clip.get_tokenizer(source)(texts), normalize=True)
        views = torch.stack([transform(Image.open(path).convert("RGB")) for path in paths])
        return text @ model.encode_image(views, normalize=True).T


def scores(folder, texts, paths):
    model, spec, _ = checkpoint.load(folder)
    text = model.encode_text([Sentence(text) for text in texts])
    features = checkpoint.feature_cache(spec).get(paths)
    return model.score(text, model.encode_image(features))


def test_scores_are_those_of_open_clip(tiny, photos):
    expected = plain_scores(f"local-dir:{tiny}", TEXTS, photos)
    actual = scores(folder_of(f"local-dir:{tiny}"), TEXTS, photos)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-5)


def test_scores_of_a_vit_b_32_are_those_of_open_clip(photos):
    expected = plain_scores("ViT-B-32", TEXTS, photos)
    actual = scores(folder_of("ViT-B-32/random"), TEXTS, photos)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("mode", ["shortest", "longest", "squash"])
def test_photos_are_prepared_as_open_clip_does(tmp_path, photos, mode):
    preprocess = {"interpolation": "bicubic", "resize_mode": mode}
    folder = write_clip(tmp_path / mode, preprocess=preprocess)
    expected = plain_scores(f"local-dir:{folder}", TEXTS[:1], photos)
    actual = scores(folder_of(f"local-dir:{folder}"), TEXTS[:1], photos)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-5)


def test_a_sigmoid_model_shows_its_probability(tmp_path):
    folder = write_clip(tmp_path / "siglip", init_logit_bias=-3.0, init_logit_scale=math.log(10))
    model, _, _ = checkpoint.load(folder_of(f"local-dir:{folder}"))
    cosines = torch.tensor([0.1, 0.5])
    torch.testing.assert_close(model.score.to_unit(cosines), (10 * cosines - 3).sigmoid())


def test_bars_of_a_softmax_model_are_cosines(tiny):
    model, _, _ = checkpoint.load(folder_of(f"local-dir:{tiny}"))
    assert model.score.to_unit(torch.tensor([-0.2, 0.3])).tolist() == pytest.approx([0, 0.3])


def test_words_after_the_context_are_not_read(tiny):
    model, _, _ = checkpoint.load(folder_of(f"local-dir:{tiny}"))
    words = [f"word{'s' * (n % 2)}" for n in range(30)]
    read, cut = model.text.unknown(Sentence(" ".join(words)))
    assert (read, cut) == (words[:10], words[10:])  # of 12 tokens, two mark start and end
    whole, of_read = model.encode_text([Sentence(" ".join(words)), Sentence(" ".join(read))]).x
    torch.testing.assert_close(whole, of_read)
    assert model.text.unknown(Sentence("a dog")) == (["a", "dog"], [])
    assert model.text.unknown(Sentence(" ".join(words[:10]))) == (words[:10], [])


def test_radial_order_equals_plain_loops():
    draw = torch.Generator().manual_seed(0)
    x, y = torch.randn(4, 3, generator=draw), torch.randn(5, 3, generator=draw)
    y[0] = 2 * x[0]  # straight behind
    y[1] = x[1]  # itself
    x[3] = 0  # the root
    angles = RADIAL.violation(Embeddings(x), Embeddings(y))
    for i, j in np.ndindex(4, 5):
        way, length = y[j] - x[i], x[i].norm()
        between = way.norm()
        expected = 0.0
        if length and between:
            expected = math.acos(max(-1, min(1, float(x[i] @ way / (length * between)))))
        assert float(angles[i, j]) == pytest.approx(expected, abs=1e-3)
    pairs = RADIAL.pairs(Embeddings(x), Embeddings(y[:4]))
    torch.testing.assert_close(-pairs, angles.diagonal()[:4], rtol=0, atol=1e-3)


def test_the_root_is_the_empty_text(tiny):
    model, _, _ = checkpoint.load(folder_of(f"local-dir:{tiny}"))
    texts = model.encode_text([Sentence(""), Sentence("a dog")])
    empty, dog = texts[:1], texts[1:]
    assert model.score.order_part(empty.x).norm() < 1e-5
    assert model.score.order_part(dog.x).norm() > 0.01
    directed = model.score.directed
    assert float(directed(empty, dog)) == 0
    assert float(directed(dog, empty)) == pytest.approx(-math.pi, abs=1e-3)


def test_a_model_is_one_checkpoint(tiny):
    folder = folder_of(f"local-dir:{tiny}")
    assert folder_of(f"local-dir:{tiny}") == folder
    _, spec, _ = checkpoint.load(folder)
    assert (spec.features, spec.config.backbone) == (24, f"clip:local-dir:{tiny}")
    assert not any(file.stat().st_size > 100_000 for file in folder.iterdir())  # no weights


def test_other_weights_are_noticed(tmp_path):
    source = write_clip(tmp_path / "model")
    folder = folder_of(f"local-dir:{source}")
    old = checkpoint.read_spec(folder)
    write_clip(source, seed=1)
    with pytest.raises(UserError, match="weights"):
        checkpoint.load(folder)
    assert folder_of(f"local-dir:{source}") == folder
    assert checkpoint.load(folder)[1].backbone_hash != old.backbone_hash


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ViT-B-23/openai", "ViT-B-32"),
        ("ViT-B-32/laion3b", "laion2b_s34b_b79k"),
        ("local-dir:/nowhere", "open_clip_config.json"),
        ("", "There is no backbone"),
        ("../../etc", "There is no|no architecture"),
    ],
)
def test_unknown_models_are_refused(name, message, is_one_sentence):
    with pytest.raises(UserError, match=message) as caught:
        folder_of(name)
    assert is_one_sentence(caught)


def test_weights_of_another_architecture_are_refused(tiny, tmp_path, is_one_sentence):
    other = write_clip(tmp_path / "other", embed_dim=16)
    state = load_file(tiny / "open_clip_model.safetensors")
    save_file(state, other / "open_clip_model.safetensors")
    with pytest.raises(UserError, match="do not fit") as caught:
        folder_of(f"local-dir:{other}")
    assert is_one_sentence(caught)


def test_a_folder_without_weights_is_refused(tiny, tmp_path, is_one_sentence):
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "open_clip_config.json").write_bytes((tiny / "open_clip_config.json").read_bytes())
    with pytest.raises(UserError, match="no weights") as caught:
        folder_of(f"local-dir:{folder}")
    assert is_one_sentence(caught)


def test_it_is_not_trained_here():
    assert not models.get("clip").is_trained_here
    assert all(models.get(name).is_trained_here for name in models.MODELS if name != "clip")


def test_naming_the_presets_does_not_load_open_clip():
    """It takes seconds, and every start of the app and of a training names them."""
    code = (
        "import sys; from vsdemo import models; models.presets(); models.preset('clip'); "
        "sys.exit(any(name in sys.modules for name in ('open_clip', 'torchvision')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
