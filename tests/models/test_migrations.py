"""Old config.json files are migrated to the current version.

tests/models/configs has a file of version 0 for every preset and for every shipped checkpoint of
that time. They are never regenerated.
"""

import json
from pathlib import Path

import pytest

from vsdemo import models
from vsdemo.models import migrations
from vsdemo.models.checkpoint import Spec
from vsdemo.models.migrations import RENAMED, VERSION, migrate, migrate_overrides

CONFIGS = Path(__file__).parent / "configs"
PRESETS = sorted(CONFIGS.glob("presets/*.json"))
SHIPPED = sorted(CONFIGS.glob("shipped/*.json"))


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_old_file_of_a_preset_is_read_as_the_preset(path):
    values = read(path)
    assert "version" not in values
    spec = Spec.from_json(values)
    assert (spec.model, spec.config) == models.preset(spec.preset)
    assert spec.changed == {}
    assert spec.to_json()["version"] == VERSION
    assert Spec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


def test_every_preset_of_version_0_has_its_file():
    presets = {read(path)["preset"] for path in PRESETS}
    assert len(presets) == len(PRESETS) == 43
    assert presets <= models.presets().keys()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_old_file_of_a_shipped_checkpoint_is_read(path):
    values = read(path)
    spec = Spec.from_json(values)
    for key, value in values["config"].items():
        assert getattr(spec.config, RENAMED.get(key, key)) == value
    of_concepts = path.stem.startswith("wordnet")
    assert spec.config.material == ("concept_pairs" if of_concepts else "photos")
    assert len(spec.members) == len(values.get("members", ()))
    assert Spec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


def test_migrations_do_not_change_the_current_version():
    values = Spec.from_json(read(PRESETS[0])).to_json()
    assert migrate(values) == values


def test_the_teacher_of_an_old_file_is_migrated_too():
    taught, teacher = (read(CONFIGS / "presets" / f"{name}.json") for name in ("gru", "order"))
    spec = Spec.from_json({**taught, "teacher": {**teacher, "of": "a/b", "of_hash": "01"}})
    assert spec.teacher.config == models.preset("order")[1]
    assert (spec.teacher.of, spec.teacher.of_hash) == ("a/b", "01")
    assert Spec.from_json(json.loads(json.dumps(spec.to_json()))) == spec
    assert "teacher" not in taught


def test_a_file_between_versions_keeps_its_material():
    values = read(CONFIGS / "presets" / "order-entailment.json")
    values["config"]["material"] = "sentence_pairs"
    assert Spec.from_json(values).config == models.preset("order/entailment")[1]


@pytest.mark.parametrize("version", [VERSION + 1, -1, "2", None])
def test_an_unknown_version_is_refused(version):
    with pytest.raises(ValueError, match="version"):
        migrate({**read(PRESETS[0]), "version": version})


def test_stored_overrides_get_their_current_names():
    old = ["gentle=3", "epochs=2", "average=0.5"]
    assert migrate_overrides(old) == ("average_start=3", "epochs=2", "average_decay=0.5")
    assert migrate_overrides(migrate_overrides(old)) == migrate_overrides(old)
    names = {name for preset, _ in models.presets().values() for name in settings_of_model(preset)}
    assert not RENAMED.keys() & names


def settings_of_model(name: str) -> list[str]:
    return list(models.get(name).config.model_fields)


def test_migrations_do_not_change_their_input():
    values = read(CONFIGS / "shipped" / "flickr8k-char_gru-ensemble.json")
    before = json.dumps(values)
    migrated = migrations.migrate(values)
    assert json.dumps(values) == before
    assert migrated["members"][0]["config"]["average_decay"] == 0.998
