"""CLIP's image encoders give what open_clip itself computes."""

from concurrent.futures import ThreadPoolExecutor

import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import nn

from tests.support.clips import write_clip
from vsdemo.vision.backbones import find_weights
from vsdemo.vision.backbones.clip import load_clip
from vsdemo.vision.backbones.network import Backbone

VIT, RESNET = "ViT-S-32-alt", "RN50"

pytestmark = pytest.mark.usefixtures("float32")


def build(architecture: str, **options) -> torch.nn.Module:
    """The whole model of seed 0, built by open_clip."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return open_clip.create_model(architecture, **options).eval()


def pixels(size: int = 224) -> torch.Tensor:
    seeded = torch.Generator().manual_seed(1)
    return torch.randint(0, 256, (2, 3, size, size), dtype=torch.uint8, generator=seeded)


def reference(clip: torch.nn.Module, layer: str) -> tuple[torch.Tensor, torch.Tensor]:
    """(joint embedding, output of a layer) for `pixels`, normalised as the model expects."""
    outputs = []
    clip.visual.get_submodule(layer).register_forward_hook(lambda m, i, out: outputs.append(out))
    mean, std = (
        torch.tensor(c)[:, None, None] for c in (clip.visual.image_mean, clip.visual.image_std)
    )
    with torch.no_grad():
        return clip.encode_image((pixels() / 255 - mean) / std), outputs[0]


def test_vision_transformer():
    vector, spatial = Backbone(find_weights(f"clip:{VIT}/random"))(pixels())
    embedding, tokens = reference(build(VIT), "ln_post")
    torch.testing.assert_close(vector, embedding, rtol=1e-4, atol=1e-4)
    assert spatial.shape == (2, 384, 7, 7)
    places = tokens[:, 1:].unflatten(1, (7, 7))  # the first token is [CLS]; then row by row
    torch.testing.assert_close(spatial, places.permute(0, 3, 1, 2), rtol=1e-4, atol=1e-4)


def test_resnet():
    vector, spatial = Backbone(find_weights(f"clip:{RESNET}/random"))(pixels())
    embedding, last_block = reference(build(RESNET), "layer4")
    torch.testing.assert_close(vector, embedding, rtol=1e-4, atol=1e-4)
    assert spatial.shape == (2, 2048, 7, 7)
    torch.testing.assert_close(spatial, last_block, rtol=1e-4, atol=1e-4)


def test_encode_keeps_negative_coordinates():
    network = Backbone(find_weights(f"clip:{VIT}/random"))
    photo = Image.new("RGB", (300, 200), "teal")
    vectors = network.encode(network.views(photo, "mirror")[None])
    assert vectors.shape == (1, 256)
    assert vectors.min() < 0
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(1))


def test_local_weights_use_the_settings_of_their_tag(models_folder, monkeypatch):
    """Mean, deviation and QuickGELU belong to the tag and are not in the file."""
    settings = {"mean": (0.5, 0.4, 0.3), "std": (0.2, 0.3, 0.4), "quick_gelu": True}
    monkeypatch.setattr(open_clip, "get_pretrained_cfg", lambda architecture, tag: settings)
    clip = build(VIT, force_quick_gelu=True, force_preprocess_cfg=settings)
    for parameter in clip.parameters():
        parameter.data.mul_(1.25)  # other weights than those of seed 0
    save_file(clip.state_dict(), models_folder / f"{VIT}_mine.safetensors")
    network = Backbone(find_weights(f"clip:{VIT}/mine"))
    assert len(network.hash) == 16
    expected, _ = reference(clip, "ln_post")
    torch.testing.assert_close(network(pixels())[0], expected, rtol=1e-4, atol=1e-4)


def test_texts_of_any_length():
    clip = load_clip(f"{VIT}/random", None)
    texts = ["", "a red car", "a dog runs through the grass", "very " * 100]
    reference = build(VIT)
    for part in (texts[:2], texts[:3], texts):  # the last one fills the context
        ids = clip.tokenizer(part)
        torch.testing.assert_close(clip.encode_text(ids), reference.encode_text(ids))
    assert clip.model.attn_mask.shape == 2 * (clip.context_length,)


def test_threads_read_texts_of_any_length():
    """Visitors' sentences are encoded at the same time, and each gets its own embedding."""
    clip = load_clip(f"{VIT}/random", None)
    batches = [clip.tokenizer(["very " * length]) for length in (1, 4, 9, 30, 90)]
    expected = [clip.encode_text(ids) for ids in batches]
    with ThreadPoolExecutor(len(batches)) as pool:
        for _ in range(20):
            for result, alone in zip(pool.map(clip.encode_text, batches), expected, strict=True):
                torch.testing.assert_close(result, alone)


def test_the_shares_of_tokens_are_the_rollout_of_all_attentions(tmp_path, monkeypatch):
    clip = load_clip("small/clip", write_clip(tmp_path / "clip") / "open_clip_model.safetensors")
    ids = clip.tokenizer(["a red circle on green"])
    end, recorded, attend = int(ids.argmax()), [], nn.MultiheadAttention.forward

    def record(self, *args, **options):
        output, weights = attend(self, *args, **{**options, "need_weights": True})
        recorded.append(weights[0])
        return output, weights

    monkeypatch.setattr(nn.MultiheadAttention, "forward", record)
    clip.model.encode_text(ids)
    monkeypatch.undo()
    rollout = torch.eye(len(recorded[0]))
    for weights in recorded:
        rollout = (weights + torch.eye(len(weights))) / 2 @ rollout
    expected = rollout[end, 1:end]
    tokens, shares = clip.token_weights(ids)
    assert [token.strip() for token in tokens] == ["a", "red", "circle", "on", "green"]
    torch.testing.assert_close(shares, expected / expected.sum())
