"""The checks before a training starts."""

import re
import shutil
from types import SimpleNamespace

import pytest

from tests.conftest import BACKBONE
from tests.support.small_runs import trainer
from vsdemo import models
from vsdemo.core import config
from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.training import preflight
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.materials import photos as photos_material
from vsdemo.vision.backbones import most_features
from vsdemo.vision.features import FeatureCache

SETTINGS = (f"backbone={BACKBONE}", "crops=center")
TOY = JobSpec("gru", "toy", SETTINGS)


def results(spec: JobSpec) -> list[tuple[bool, str]]:
    return [tuple(check) for check in preflight.check(spec)]


def settings(preset: str, *changes: str):
    return config.override(models.preset(preset)[1], changes)


def test_all_checks_pass_on_the_toy_data(own_home, tmp_path):
    photos, features, memory, disk = results(TOY)
    assert photos == (True, "32 pictures for training and validation.")
    assert features == (
        True,
        f"The features of about 32 pictures will be computed first, by {BACKBONE} (center).",
    )
    assert memory[0]
    assert re.fullmatch(
        r"This machine has [0-9,.]+ GB of memory; about 1\.2 GB are needed\.", memory[1]
    )
    assert disk[0]
    assert disk[1].endswith("about 300 MB are needed.")
    preflight.require(TOY)
    trainer(tmp_path / "run", "epochs=1")  # computes all features
    assert results(TOY)[1] == (True, f"All features are cached, by {BACKBONE} (center).")
    first = JobSpec("gru", "toy", (*SETTINGS, "photos=4"))
    assert results(first)[0][1].startswith("12 pictures")


def test_cached_features_are_not_counted(own_home):
    cache = FeatureCache(BACKBONE, "center")
    cache.get(datasets.load("toy", "train").photos[:12])
    (_, message) = results(TOY)[1]
    assert message.startswith("The features of about 20 pictures")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (JobSpec("gru", "nowhere", SETTINGS), "There is no data set 'nowhere'"),
        (JobSpec("gru", None, SETTINGS), "Flickr8k is missing"),
        (JobSpec("gru", "flickr8k", SETTINGS), "Flickr8k is missing"),
        (JobSpec("order/entailment"), "is missing"),
        (JobSpec("hypernyms"), "WordNet"),
    ],
)
def test_missing_data_fail_the_check(own_home, spec, message):
    failed = next(check for check in preflight.check(spec) if not check.ok)
    assert message in failed.message
    assert "\n" not in failed.message
    with pytest.raises(UserError) as error:
        preflight.require(spec)
    assert str(error.value) == failed.message


def test_the_toy_hierarchy_needs_nothing(own_home):
    assert (True, "The concepts are available.") in results(JobSpec("hypernyms", "toy"))
    preflight.require(JobSpec("hypernyms", "toy"))


def test_a_missing_backbone_fails_the_check(own_home):
    spec = JobSpec("gru", "toy", ("backbone=torchvision/resnet152",))
    photos, backbone = preflight.check(spec)
    assert photos.ok
    assert not backbone.ok
    assert "The backbone torchvision/resnet152 is missing; download it" in backbone.message


def test_a_teacher_needs_its_own_features(own_home):
    _, own, of_teacher, *_ = preflight.check(
        JobSpec("gru", "toy", (*SETTINGS, "teacher=storybook/gru"))
    )
    assert own.message.endswith(f"by {BACKBONE} (center).")
    assert of_teacher.message == (
        "The features of about 32 pictures will be computed first, by pocket (whole)."
    )


def test_an_unknown_teacher_fails_the_check(own_home):
    (failed,) = preflight.check(JobSpec("gru", "toy", (*SETTINGS, "teacher=nobody")))
    assert not failed.ok
    assert "There is no checkpoint 'nobody'" in failed.message


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (JobSpec("transformer"), "no preset 'transformer'"),
        (JobSpec("gru", "toy", ("colour=red",)), "no setting 'colour'"),
        (JobSpec("gru", "toy", ("dim=many",)), "dim must be a whole number"),
    ],
)
def test_invalid_settings_are_errors(spec, message):
    for function in (preflight.check, preflight.require):
        with pytest.raises(UserError, match=message):
            function(spec)


def test_a_full_disk_fails_the_check(own_home, monkeypatch):
    free = SimpleNamespace(free=250_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: free)
    *_, disk = preflight.check(TOY)
    assert not disk.ok
    assert disk.message.startswith(
        "The disk has 250 MB free; about 300 MB are needed: free some space in "
    )
    with pytest.raises(UserError, match="free some space in"):
        preflight.require(TOY)
    free.free = 5_000_000_000
    assert preflight.check(TOY)[-1][1] == "The disk has 5.0 GB free; about 300 MB are needed."


def test_drawings_that_are_missing_need_disk_space(own_home):
    spec = JobSpec("gru", "storybook", ("backbone=pocket", "crops=whole"))
    photos, features, _, disk = results(spec)
    assert photos[1] == (
        "4,500 pictures for training and validation; 4,500 of them will be drawn first."
    )
    assert (
        features[1]
        == "The features of about 4,500 pictures will be computed first, by pocket (whole)."
    )
    features_size = most_features("pocket") * photos_material.FEATURE_SIZE
    needed = 300_000_000 + 4500 * (photos_material.DRAWING_SIZE + features_size)
    assert f"about {needed / 1e6:.0f} MB are needed" in disk[1]
    few = JobSpec("gru", "storybook", ("backbone=pocket", "crops=whole", "photos=100"))
    assert results(few)[0][1].startswith("600 pictures")


def test_available_datasets_fit_the_preset(own_home, toy_root, tmp_path, monkeypatch):
    assert preflight.available_datasets(settings("gru")) == ["toy", "storybook"]
    assert preflight.available_datasets(settings("gru", "backbone=pocket", "crops=whole")) == [
        "storybook",
        "toy",
    ]
    assert preflight.available_datasets(settings("order/entailment")) == []
    assert preflight.available_datasets(settings("hypernyms")) == ["toy"]
    shutil.copytree(toy_root, tmp_path / "data")
    (tmp_path / "data" / "damaged").mkdir()
    (tmp_path / "data" / "damaged" / "captions.json").write_text("{")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    assert preflight.available_datasets(settings("gru")) == ["toy", "storybook"]


def test_default_settings_fit_the_preset_to_the_data_set(own_home):
    drawn = ("backbone=pocket", "crops=whole")
    assert preflight.default_settings(settings("gru"), "storybook") == drawn
    assert preflight.default_settings(settings("gru", *drawn), "storybook") == ()
    assert preflight.default_settings(settings("gru", *SETTINGS), "toy") == ()
    missing = settings("gru", "backbone=torchvision/resnet152")
    assert preflight.default_settings(missing, "toy") == drawn
    assert preflight.default_settings(settings("order/entailment"), None) == ()
    regions = settings("fragments")
    things = ("backbone=easel", "crops=things")
    assert preflight.default_settings(regions, "storybook") == things
