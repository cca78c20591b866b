"""The registry of materials, and a material that another package adds."""

import pytest

from tests.support.small_runs import SETTINGS, logged
from tests.support.toy_material import FirstCaptions
from vsdemo import models
from vsdemo.core import config
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data.everyday_photos import training
from vsdemo.training import materials
from vsdemo.training.trainer import Trainer


@pytest.mark.parametrize("name", materials.MATERIALS)
def test_every_material_has_a_class(name):
    assert materials.material_class(name).chosen_by


def test_an_unknown_material_lists_the_valid_ones():
    with pytest.raises(UserError, match="no material 'video'; choose one of photos, "):
        materials.material_class("video")


def test_a_material_of_another_package_can_be_trained(tmp_path, monkeypatch):
    monkeypatch.setitem(materials.MATERIALS, "first", "tests.support.toy_material:FirstCaptions")
    settings = config.override(models.preset("gru")[1], [*SETTINGS, "epochs=2"])
    settings = settings.model_copy(update={"material": "first"})
    material = materials.create("gru", settings, dataset="toy")
    assert isinstance(material, FirstCaptions)
    trainer = Trainer(tmp_path, material)
    assert trainer.total == 2 * 3  # 24 photos in batches of 8
    assert trainer.run() == "done"
    recalls = [event["recall"] for event in logged(tmp_path, "eval")]
    assert len(recalls) == 2
    assert logged(tmp_path, "done")[0]["best_recall"] == max(recalls)


@pytest.mark.parametrize("name", ["pascal1k", "pascal1k:3"])
def test_pascal1k_takes_no_extra_photos(real_data, name):
    """They hold its training photos of seed 0, which other seeds test on."""
    settings = config.override(models.preset("gru")[1], ["extra=everyday"])
    checks = materials.material_class("photos").requirements(settings, name).checks
    assert any(not check.ok and "set extra=none" in check.message for check in checks)
    with pytest.raises(UserError, match="set extra=none"):
        materials.create("gru", settings, dataset=name)


def test_extra_photos_come_after_those_of_the_data_set(toy_root, monkeypatch):
    photos = tuple(sorted((toy_root / "toy").rglob("*.png")))[:2]
    more = CaptionSet("more", "train", photos, ("a dog", "a cat"), (0, 1))
    monkeypatch.setattr(training, "load", lambda: more)
    settings = config.override(models.preset("gru")[1], ["extra=everyday"])
    train = materials.create("gru", settings, dataset="toy").train_set
    assert train.name == "toy"
    assert train.captions[-2:] == ("a dog", "a cat")
    assert train.photos[-2:] == more.photos
