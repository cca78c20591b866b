"""Training the end of the image network: batches, a small run, and the checkpoint."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from tests.support import small_runs
from tests.support.small_runs import preset_trainer, stopped_at
from vsdemo import models
from vsdemo.core.device import autocast
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets
from vsdemo.encoders.standardize import SMALL_EPS
from vsdemo.evaluation.phrases import Phrase
from vsdemo.models import checkpoint
from vsdemo.models.scores import SCORES
from vsdemo.training import preflight
from vsdemo.training.materials import caption_pairs, phrase_table, tuned_photos
from vsdemo.training.materials.photo_batches import PhotoBatch
from vsdemo.training.materials.tuned_photos import FrozenBatch, TunedPhotos
from vsdemo.vision.backbones import tuned
from vsdemo.vision.backbones.families import DIFFERENCE

SMALL = (
    *("backbone=pocket", "dim=16", "word_dim=8", "min_count=1", "batch_size=8", "captions=2"),
    *(
        "text_epochs=0",
        "epochs=3",
        "frozen_epochs=1",
        "evaluate_every=3",
        "dropout=0.1",
        "end_dropout=0.1",
        "warmup=0",
    ),
    *("phrase_weight=0", "pair_weight=0", "corners=false", "windows=false"),
    *("learning_rate=0.01", "end_rate=0.001", "average_decay=0.5", "hub_bank=40"),
)
EPOCH = 3  # steps of 8 of the 24 photos of `toy`
SENTENCES = [Sentence("A red circle."), Sentence("Two green squares.")]


def trainer(out, *settings):
    return preset_trainer(out, "vse_photos", *SMALL, *settings)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The trainer of an uninterrupted training."""
    run = trainer(tmp_path_factory.mktemp("runs") / "whole")
    run.run()
    return run


@pytest.fixture
def others(monkeypatch):
    """Captions of three photos that are not at hand; dev has a caption of the last one."""
    held_out = datasets.load("toy", "dev").captions[0]
    texts = [*(f"A horse number {number} runs ." for number in range(10)), *["A cat ."] * 4]
    monkeypatch.setattr(caption_pairs, "obstacle", lambda: "")
    monkeypatch.setattr(caption_pairs, "corpus_sentences", lambda: [*texts, held_out.upper()])


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


def test_batch_norms_of_the_end_are_kept(whole):
    frozen = dict(whole.material._frozen_end.named_parameters())
    weights = dict(whole.model.image.end.named_parameters())
    changed = {name for name in frozen if not torch.equal(frozen[name], weights[name])}
    convolutions = {name for name, weight in frozen.items() if weight.dim() == 4}
    assert convolutions
    assert changed == convolutions


def test_dropout_changes_when_the_end_is_trained(tmp_path):
    run = trainer(tmp_path, "dropout=0.2", "end_dropout=0.6")
    rates = []
    for step in range(3 * EPOCH):
        run.material.begin_step(run.optimizer, step)
        rates.append({m.p for m in run.model.modules() if isinstance(m, nn.Dropout)})
    assert rates == [{0.2}] * EPOCH + [{0.6}] * 2 * EPOCH


def test_all_steps_that_tune_the_end_count_the_same_in_the_average(tmp_path):
    run = trainer(tmp_path)
    average = run.modules["average"]
    weight, averaged = next(run.model.text.parameters()), next(average.module.text.parameters())
    values = [float(step**2) for step in range(3 * EPOCH)]
    means = []
    for value in values:
        with torch.no_grad():
            weight.fill_(value)
        average.update_parameters(run.model)
        means.append(averaged.detach().flatten()[0].item())
    assert means[EPOCH - 1] == pytest.approx((values[0] + values[1]) / 4 + values[2] / 2)
    assert means[-1] == pytest.approx(np.mean([means[EPOCH - 1], *values[EPOCH:]]))


def test_the_end_has_its_own_learning_rate(whole):
    encoders, end = whole.optimizer.param_groups
    assert end["lr"] == pytest.approx(0.1 * encoders["lr"])
    assert len(end["params"]) == len([*whole.model.image.end.parameters()])


def test_batch_has_a_random_view_and_some_captions_of_each_photo(whole):
    batch = PhotoBatch(whole.material._epoch(0)[0].numpy(), (0, 0, 0))
    texts, photos, labels = whole.material.embed(batch)
    assert len(photos.x) == 8
    assert labels.owner.tolist() == [photo for photo in range(8) for _ in range(2)]
    assert len(texts.x) == 16
    again = whole.material.embed(PhotoBatch(batch.photos, (0, 0, 1)))
    assert not torch.equal(again[1].x, photos.x)


def test_checkpoint_embeds_as_the_trained_model(whole):
    model, spec, _ = checkpoint.load(whole.out)
    assert spec.has_own_network
    assert spec.has_changed_network
    dev = whole.material.dev_set
    features = checkpoint.feature_cache(spec).get(dev.photos)
    assert features.shape[1] == spec.features == 1024
    assert features.dtype == torch.float32  # small features count
    trained = whole.evaluated.eval()
    for actual, expected in (
        (model.encode_image(features), trained.encode_image(whole.material.dev_photos)),
        (model.encode_text(SENTENCES), trained.encode_text(SENTENCES)),
    ):
        cosines = torch.nn.functional.cosine_similarity(actual.x, expected.x)
        assert cosines.min() > 0.98  # weights have 4 bits, stems half precision


def test_hubs_are_measured_by_photos_and_captions_of_the_training(whole):
    model, spec, _ = checkpoint.load(whole.out)
    material = whole.material
    captions = [Sentence(text) for text in material.train_set.captions]
    photos = model.encode_image(checkpoint.feature_cache(spec).get(material.train_set.photos))
    hubs = model.encode_text(captions).x[:, -1], photos.x[:, -1]
    assert model.score is SCORES["hub_corrected"]
    assert all(hub.std() > 0.001 for hub in hubs)
    assert all(hub.mean().abs() < 0.02 for hub in hubs)


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


def test_another_model_learns_over_the_tuned_network(whole, tmp_path):
    settings = (f"backbone=tuned:{whole.out}", "crops=whole", "small_features=true", "epochs=1")
    small_runs.trainer(tmp_path, *settings).run()
    model, spec, _ = checkpoint.load(tmp_path)
    assert not spec.has_own_network
    assert spec.features == 1024
    assert model.image.standardize.eps == SMALL_EPS
    assert load_file(tmp_path / "model.safetensors")["image.linear.weight"].dtype == torch.uint8


def test_models_over_a_shipped_network_share_its_features(whole, monkeypatch):
    assert checkpoint.read_spec(whole.out).network == f"tuned:{whole.out.resolve()}"
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(whole.out.parent))
    assert checkpoint.read_spec(whole.out).network == f"tuned:{whole.out.name}"


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


def test_captions_of_other_photos_are_those_of_no_held_out_photo(others):
    first, second = caption_pairs.other_captions("toy")
    assert first == tuple(f"A horse number {number} runs ." for number in range(5))
    assert second[0] == "A horse number 5 runs ."


def test_first_epochs_have_two_captions_of_each_photo(others, tmp_path):
    run = trainer(tmp_path, "text_epochs=1")
    batches = run.material.batches(0)
    assert len(batches) == EPOCH
    assert sorted(np.concatenate([batch.photos for batch in batches])) == [*range(26)]
    texts, same, labels = run.material.embed(batches[0])
    assert len(texts.x) == len(same.x) == len(batches[0])
    assert labels.owner.tolist() == [*range(len(batches[0]))]
    assert isinstance(run.material.batches(1)[0], PhotoBatch)


def test_pairs_are_captions_of_the_same_photo(others, tmp_path, monkeypatch):
    material = trainer(tmp_path, "text_epochs=1").material
    seen = []
    embed = material._embed_texts
    monkeypatch.setattr(material, "_embed_texts", lambda rows: seen.extend(rows) or embed(rows))
    material.embed(material.batches(0)[0])
    photo_of = {row: photo for photo, rows in enumerate(material._described) for row in rows}
    half = len(seen) // 2
    assert [photo_of[row] for row in seen[:half]] == [photo_of[row] for row in seen[half:]]
    assert not set(seen[:half]) & set(seen[half:])


@pytest.mark.parametrize("epoch", [0, 1])
def test_pairs_of_captions_join_batches_with_photos(others, tmp_path, epoch):
    """Over the frozen network, and while its end is tuned."""
    material = trainer(tmp_path, "pair_weight=0.5", "pairs=5").material
    (batch, *_) = material.batches(epoch)
    texts, photos, labels = material.embed(batch)
    assert len(texts.x) == len(labels.owner) + 2 * 5
    assert len(photos.x) == len(batch)
    assert material.loss(texts, photos, labels, progress=0.0)["pairs"] > 0


def test_all_pairs_join_a_batch_if_there_are_fewer(others, tmp_path):
    material = trainer(tmp_path, "pair_weight=0.5").material
    (batch, *_) = material.batches(0)
    texts, _, labels = material.embed(batch)
    assert len(texts.x) == len(labels.owner) + 2 * len(material._described)


def test_without_photos_only_the_text_encoder_is_trained(others, tmp_path):
    run = trainer(tmp_path, "text_epochs=1")
    before = {name: weights.clone() for name, weights in run.model.state_dict().items()}
    with stopped_at(EPOCH):
        run.run()
    changed = {
        name for name, w in run.model.state_dict().items() if not torch.equal(w, before[name])
    }
    assert any(name.startswith("text.") for name in changed)
    assert not any(name.startswith("image.") for name in changed)


def test_learning_rate_rises_and_falls_in_each_part_of_the_training(others, tmp_path):
    run = trainer(tmp_path, "text_epochs=1", "warmup=1")
    rates = [run.material.begin_step(run.optimizer, step) for step in range(3 * EPOCH)]
    for start in (0, EPOCH, 2 * EPOCH):
        part = rates[start : start + EPOCH]
        assert part[0] == max(rates)
        assert part[-1] < part[0] / 2
        assert part == sorted(part, reverse=True)


def test_vectors_of_the_frozen_network_are_those_of_its_end(whole):
    material = whole.material
    batch = material.batches(0)[0]
    assert isinstance(batch, FrozenBatch)
    texts, photos, labels = material.embed(batch)
    assert len(texts.x) == len(photos.x) == len(batch)
    assert labels.owner.tolist() == [*range(len(batch))]
    stems = material._stems(torch.arange(3)).float()
    with torch.no_grad(), autocast():
        for own, maps in zip(material._vectors, (stems, stems.flip(-1)), strict=True):
            expected = tuned.pool(material._frozen_end(maps)).relu()
            expected = torch.nn.functional.normalize(expected.float(), dim=-1)
            torch.testing.assert_close(own[:3], expected, atol=0.01, rtol=0)


def test_batches_over_vectors_have_each_photo_equally_often(tmp_path):
    material = trainer(tmp_path, "frozen_batch=12").material
    batches = material.batches(0)
    assert [len(batch) for batch in batches] == [12] * EPOCH
    first = np.concatenate([batch.photos for batch in batches[:2]])
    assert sorted(first) == [*range(24)]
    assert len(set(batches[2].photos)) == 12


def test_training_stopped_without_photos_resumes(others, tmp_path):
    whole = trainer(tmp_path / "whole", "text_epochs=1")
    whole.run()
    with stopped_at(2):
        assert trainer(tmp_path / "stopped", "text_epochs=1").run() == "stopped"
    again = trainer(tmp_path / "stopped", "text_epochs=1")
    assert again.run() == "done"
    torch.testing.assert_close(end_weights(again), end_weights(whole))


def test_missing_captions_and_phrases_are_reported():
    config = models.preset("vse_photos")[1].model_copy(update={"backbone": "pocket"})
    failed = [c.message for c in TunedPhotos.requirements(config, "toy").checks if not c.ok]
    left_out = ["text_epochs=0", "pair_weight=0", "phrase_weight=0"]
    assert [message.split()[-1] for message in failed] == [f"{setting}." for setting in left_out]


def test_some_epochs_need_photos(tmp_path):
    with pytest.raises(UserError, match="set epochs to 5 or more"):
        trainer(tmp_path, "text_epochs=3")


def test_chunks_give_the_gradients_of_the_whole_batch(tmp_path):
    """Also those of the end, as the scale of features does not depend on the batch."""
    settings = ("frozen_epochs=0", "dropout=0", "end_dropout=0", "phrase_weight=0")
    gradients = []
    for chunk in (0, 3):
        run = trainer(tmp_path / str(chunk), *settings, f"chunk={chunk}")
        run.material.begin_step(run.optimizer, 0)
        run.model.train()
        (batch, *_) = run.material.batches(0)
        run.material.loss(*run.material.embed(batch), progress=0.0)["loss"].backward()
        gradients.append([p.grad for p in run.model.parameters() if p.grad is not None])
    assert len(gradients[0]) > 3
    for whole, parts in zip(*gradients, strict=True):
        torch.testing.assert_close(parts, whole, rtol=1e-3, atol=1e-5)


def test_corners_join_the_views_of_training(tmp_path):
    material = trainer(tmp_path, "corners=true").material
    plain = trainer(tmp_path / "plain").material
    assert len(material._frames) == 5
    rows = torch.tensor([3, 0, 3, 5])
    whole = plain._stems(rows)
    views = material._stems(rows, torch.tensor([0, 4, 2, 0]))
    assert torch.equal(views[[0, 3]], whole[[0, 3]])
    assert torch.equal(views[[1, 2]], material.corners.all()[[0, 3], [3, 1]])
    assert material.dev_photos.shape[1:] == whole.shape[1:]
    checks = material.requirements(material.config, "toy").checks
    assert any("(corners)" in check.message for check in checks)


def test_training_with_random_parts_resumes(tmp_path):
    whole = trainer(tmp_path / "whole", "windows=true")
    whole.run()
    with stopped_at(EPOCH + 1):
        trainer(tmp_path / "stopped", "windows=true").run()
    again = trainer(tmp_path / "stopped", "windows=true")
    assert again.run() == "done"
    torch.testing.assert_close(end_weights(again), end_weights(whole))


@pytest.fixture
def phrases(monkeypatch):
    """Two phrases of each photo of `toy`; the first one names its left half."""
    boxes = (torch.tensor([[0.0, 0.0, 0.5, 1.0]]), torch.tensor([[0.5, 0.5, 1.0, 1.0]]))

    def of_split(split):
        return [
            Phrase(own[0], tuple(split.captions[own[0]].split()), (number, number + 1), box, ())
            for own in split.captions_of
            for number, box in enumerate(boxes)
        ]

    monkeypatch.setattr(phrase_table, "phrases", of_split)
    monkeypatch.setattr(tuned_photos.phrases, "obstacle", lambda name: "")


def test_phrases_are_compared_with_their_regions(phrases, tmp_path):
    run = trainer(tmp_path, "phrase_weight=0.5", "phrases=3")
    batch = PhotoBatch(np.arange(4), (0, 0, 0))
    texts, photos, labels = run.material.embed(batch)
    assert photos.x.shape == (4, 4, 17)
    assert photos.mask.tolist() == [[True, True, True, False]] * 4
    assert len(texts.x) == 4 * 2 + 4 * 2  # captions, then phrases
    assert labels.places.tolist() == [[photo, slot] for photo in range(4) for slot in range(2)]
    losses = run.material.loss(texts, photos, labels, progress=0.0)
    assert losses["phrases"] > 0
    assert run.run() == "done"
    assert checkpoint.load(tmp_path)[1].config.phrase_weight == 0.5


def test_boxes_of_a_mirrored_view_are_mirrored(phrases, tmp_path, monkeypatch):
    material = trainer(tmp_path, "phrase_weight=0.5").material
    seen = []
    embed = tuned_photos.parts.embed_photos
    monkeypatch.setattr(
        tuned_photos.parts, "embed_photos", lambda *args: seen.append(args[1]) or embed(*args)
    )
    for number in range(4):
        material.embed(PhotoBatch(np.arange(8), (0, 0, number)))
    stems = torch.cat([views.stems for views in seen])
    whole = torch.cat([material._stems(torch.arange(8))] * 4).float()
    is_mirrored = (stems != whole).flatten(1).any(1)
    boxes = torch.cat([views.boxes for views in seen])
    left = (boxes == torch.tensor([0.0, 0.0, 0.5, 1.0])).all(-1).any(1)
    assert torch.equal(left, ~is_mirrored)
    assert 0 < is_mirrored.sum() < 32


def test_nothing_is_left_out_where_all_is_available(others, phrases, monkeypatch):
    config = models.preset("vse_photos")[1]
    monkeypatch.setattr(caption_pairs, "corpus_path", lambda: "captions.txt")
    left_out = {"text_epochs=0", "pair_weight=0", "phrase_weight=0"}
    assert not left_out & {*TunedPhotos.default_settings(config, "toy")}


def test_missing_captions_and_phrases_are_left_out_by_default():
    config = models.preset("vse_photos")[1]
    left_out = {"text_epochs=0", "pair_weight=0", "phrase_weight=0"}
    assert left_out <= {*TunedPhotos.default_settings(config, "toy")}


def test_phrases_that_are_missing_are_reported(tmp_path):
    with pytest.raises(UserError, match=r"needs Flickr8k or Storybook.*not toy. Or set phrase_w"):
        trainer(tmp_path, "phrase_weight=0.5")
