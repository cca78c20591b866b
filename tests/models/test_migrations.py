"""Old config.json files are read as the presets they were written for."""

import json
from pathlib import Path

import pytest

from vsdemo import models
from vsdemo.models import checkpoint

CONFIGS = Path(__file__).parent / "configs"


@pytest.mark.parametrize("preset", models.presets())
def test_old_file_of_a_preset_is_read_as_the_preset(preset):
    path = CONFIGS / "presets" / f"{preset.replace('/', '-')}.json"
    spec = checkpoint.spec_of(json.loads(path.read_text(encoding="utf-8")))
    assert (spec.model, spec.config) == models.preset(preset)
    assert spec.changed == {}


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("shipped/*.json")), ids=lambda path: path.stem)
def test_old_file_of_a_shipped_checkpoint_is_read(path):
    values = json.loads(path.read_text(encoding="utf-8"))
    spec = checkpoint.spec_of(values)
    for key, value in values["config"].items():
        assert getattr(spec.config, key) == value
    assert (spec.config.material == "concept_pairs") == path.stem.startswith("wordnet")
