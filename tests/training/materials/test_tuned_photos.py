"""Training the end of the image network: batches, a small run, and the checkpoint."""

import pytest
import torch

from tests.support.small_runs import preset_trainer, stopped_at
from vsdemo.core.sentences import Sentence
from vsdemo.models import checkpoint
from vsdemo.training import preflight
from vsdemo.training.materials.photo_batches import PhotoBatch
from vsdemo.vision.backbones.families import DIFFERENCE

SMALL = (
    *("backbone=pocket", "dim=16", "word_dim=8", "min_count=1", "batch_size=8", "captions=2"),
    *("epochs=3", "end_start=1", "dropout=0.1", "warmup=0", "evaluate_every=3"),
    *("learning_rate=0.01", "end_rate=0.001", "average_decay=0.5"),
)
EPOCH = 3  # steps of 8 of the 24 photos of `toy`
SENTENCES = [Sentence("A red circle."), Sentence("Two green squares.")]


def trainer(out, *settings):
    return preset_trainer(out, "vse-photos", *SMALL, *settings)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The trainer of an uninterrupted training."""
    run = trainer(tmp_path_factory.mktemp("runs") / "whole")
    run.run()
    return run


def end_weights(run):
    return torch.cat([p.detach().flatten() for p in run.model.image.end.parameters()])


def test_end_is_frozen_in_the_first_epochs(tmp_path):
    run = trainer(tmp_path)
    before = end_weights(run).clone()
    with stopped_at(EPOCH):
        assert run.run() == "stopped"
    assert torch.equal(end_weights(run), before)


def test_end_is_trained_then(whole):
    frozen = torch.cat([p.flatten() for p in whole.material._frozen_end.parameters()])
    assert not torch.equal(end_weights(whole), frozen)


def test_the_end_has_its_own_learning_rate(whole):
    encoders, end = whole.optimizer.param_groups
    assert end["lr"] == pytest.approx(0.1 * encoders["lr"])
    assert len(end["params"]) == len([*whole.model.image.end.parameters()])


def test_batch_has_a_random_view_and_some_captions_of_each_photo(whole):
    batch = PhotoBatch(whole.material._epoch(0)[0].numpy(), (0, 0, 0))
    texts, photos, owner = whole.material.embed(batch)
    assert len(photos.x) == 8
    assert owner.tolist() == [photo for photo in range(8) for _ in range(2)]
    assert len(texts.x) == 16
    again = whole.material.embed(PhotoBatch(batch.photos, (0, 0, 1)))
    assert not torch.equal(again[1].x, photos.x)


def test_checkpoint_embeds_as_the_trained_model(whole):
    model, spec, _ = checkpoint.load(whole.out)
    assert spec.has_own_network
    dev = whole.material.dev_set
    features = checkpoint.feature_cache(spec).get(dev.photos)
    assert features.shape[1] == spec.features == 1024
    expected = whole.evaluated.eval().encode_image(whole.material.dev_photos).x
    cosines = torch.nn.functional.cosine_similarity(model.encode_image(features).x, expected)
    assert cosines.min() > 0.98  # 8 bits, half precision
    expected = whole.evaluated.encode_text(SENTENCES).x
    torch.testing.assert_close(model.encode_text(SENTENCES).x, expected, atol=0.02, rtol=0)


def test_difference_is_part_of_what_is_shipped(whole):
    names = {file.name for file in checkpoint.files(whole.out)}
    assert DIFFERENCE in names
    before = checkpoint.content_hash(whole.out)
    file = whole.out / DIFFERENCE
    content = file.read_bytes()
    try:
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        assert checkpoint.content_hash(whole.out) != before
        with pytest.raises(checkpoint.DamagedFile):
            checkpoint.load(whole.out)
    finally:
        file.write_bytes(content)


def test_resumed_run_is_the_same(whole, tmp_path):
    with stopped_at(EPOCH + 1):
        assert trainer(tmp_path).run() == "stopped"
    again = trainer(tmp_path)
    assert again.run() == "done"
    torch.testing.assert_close(end_weights(again), end_weights(whole))


def test_requirements_count_stems(whole):
    material = type(whole.material)
    ready = material.requirements(whole.material.config, "toy")
    assert any("features are cached" in check.message for check in ready.checks)
    assert preflight.uses_photos(whole.material.config)
