"""Training on phrases and regions: labels, requirements, and a small run over a random finder."""

import pytest
import torch

from tests.support.random_finder import write_densenet, write_finder
from tests.support.small_runs import logged, preset_trainer
from vsdemo import models
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.evaluation.phrases import Phrase
from vsdemo.models import checkpoint
from vsdemo.training.materials import phrases as material_module
from vsdemo.training.materials.phrases import FITS, PhrasePhotos
from vsdemo.vision import backbones
from vsdemo.vision.regions import PLACE, overlap

SMALL = (
    *("dim=16", "word_dim=8", "units=8", "min_count=1", "batch_size=8", "captions=2"),
    *("epochs=2", "evaluate_every=2", "warmup=0", "learning_rate=0.01", "photos=16"),
)
LEFT = torch.tensor([[0.0, 0.0, 0.5, 1.0]])


@pytest.fixture(scope="module")
def home(tmp_path_factory, toy_root):
    """A VSDEMO_HOME and a VSDEMO_DATA, so that features are computed once."""
    folder = tmp_path_factory.mktemp("phrases")
    write_densenet(folder / "data" / "models")
    (folder / "data" / "toy").symlink_to(toy_root / "toy")
    return folder


@pytest.fixture(autouse=True)
def finder(home, monkeypatch, fake_parser):
    monkeypatch.setenv("VSDEMO_DATA", str(home / "data"))
    monkeypatch.setenv("VSDEMO_HOME", str(home / "home"))
    file = home / "finder" / "model.safetensors"
    if not file.exists():
        write_finder(file)
    monkeypatch.setattr(backbones.FAMILIES["finder"], "file", file)


@pytest.fixture
def known(monkeypatch):
    """The second word of each caption of `toy` names the left half of its photo."""

    def of_split(split):
        return [
            Phrase(caption, tuple(text.split()), (1,), LEFT, ("thing",))
            for caption, text in enumerate(split.captions)
        ]

    monkeypatch.setattr(material_module.phrases, "phrases", of_split)
    monkeypatch.setattr(material_module.phrases, "obstacle", lambda name: "")


def test_a_small_run_learns_from_captions_alone(tmp_path):
    run = preset_trainer(tmp_path, "fragments_photos", *SMALL)
    assert run.run() == "done"
    model, spec, _ = checkpoint.load(tmp_path)
    assert spec.config.backbone == "finder"
    (start,) = logged(tmp_path, "start")
    assert start["preset"] == "fragments_photos"
    assert "places" not in logged(tmp_path, "step")[-1]
    assert model.encode_text([Sentence("a red circle")]).mask.sum() > 1


@pytest.mark.usefixtures("known")
def test_places_of_phrases_are_learned_where_a_region_fits_them(tmp_path):
    material = preset_trainer(tmp_path, "fragments_photos/boxes", *SMALL).material
    model = material.build()
    (batch, *_) = material.batches(0)
    texts, photos, labels = material.embed(batch)
    boxes = material.photos[torch.from_numpy(batch.photos)][..., -PLACE:-1].float()
    fits = overlap(boxes[labels.owner[labels.phrases[:, 0]]], LEFT[0]) >= FITS
    assert len(labels.phrases)
    assert torch.equal(labels.regions > 0, fits)
    torch.testing.assert_close(labels.regions.sum(1), torch.ones(len(labels.phrases)))
    for caption, number in labels.phrases.tolist():
        assert texts.mask[caption, number]
        assert number > 0  # not the whole sentence
    loss = model.objective(model.score, texts, photos, labels)
    assert loss["places"] > 0


def test_without_boxes_a_training_says_what_to_do():
    _, config = models.preset("fragments_photos/boxes")
    needed = PhrasePhotos.requirements(config, "toy")
    (reason,) = [check.message for check in needed.checks if not check.ok]
    assert "Or set place_weight=0." in reason
    with pytest.raises(UserError, match=r"set place_weight=0\."):
        PhrasePhotos("fragments_photos/boxes", config, "toy")
