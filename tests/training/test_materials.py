"""The registry of materials, and a material that another package adds."""

import pytest

from tests.support.small_runs import SETTINGS, logged
from tests.support.toy_material import FirstCaptions
from vsdemo import models
from vsdemo.core import config
from vsdemo.core.errors import UserError
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
