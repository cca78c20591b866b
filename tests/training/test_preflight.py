"""What a training needs, looked at before it starts."""

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
from vsdemo.vision.features import FeatureCache

SETTINGS = (f"backbone={BACKBONE}", "crops=center")
TOY = JobSpec("gru", "toy", SETTINGS)


def says(plan: JobSpec) -> list[tuple[bool, str]]:
    return [tuple(found) for found in preflight.check(plan)]


def settings(preset: str, *changes: str):
    return config.override(models.preset(preset)[1], changes)


def test_all_is_here(own_home, tmp_path):
    photos, look, disk = says(TOY)
    assert photos == (True, "32 pictures for training and validation.")
    assert look == (
        True,
        f"The features of about 32 pictures will be computed first, by {BACKBONE} (center).",
    )
    assert disk[0]
    assert disk[1].endswith("about 300 MB are needed.")
    preflight.require(TOY)
    trainer(tmp_path / "run", "epochs=1")  # which looks at all
    assert says(TOY)[1] == (True, f"All features are cached, by {BACKBONE} (center).")
    first = JobSpec("gru", "toy", (*SETTINGS, "photos=4"))
    assert says(first)[0][1].startswith("12 pictures")


def test_a_part_was_looked_at(own_home):
    cache = FeatureCache(BACKBONE, "center")
    cache.get(datasets.load("toy", "train").photos[:12])
    (_, told) = says(TOY)[1]
    assert told.startswith("The features of about 20 pictures")


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (JobSpec("gru", "nowhere", SETTINGS), "There is no data set 'nowhere'"),
        (JobSpec("gru", None, SETTINGS), "Flickr8k is missing"),
        (JobSpec("gru", "flickr8k", SETTINGS), "Flickr8k is missing"),
        (JobSpec("order/entailment"), "is missing"),
        (JobSpec("hypernyms"), "WordNet"),
    ],
)
def test_data_that_are_missing(own_home, plan, told):
    found = preflight.check(plan)
    wrong = next(check for check in found if not check.ok)
    assert told in wrong.message
    assert "\n" not in wrong.message
    with pytest.raises(UserError) as caught:
        preflight.require(plan)
    assert str(caught.value) == wrong.message


def test_an_image_network_that_is_missing(own_home):
    plan = JobSpec("gru", "toy", ("backbone=torchvision/resnet152",))
    photos, network = preflight.check(plan)
    assert photos.ok
    assert not network.ok
    assert "The backbone torchvision/resnet152 is missing; download it" in network.message


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (JobSpec("transformer"), "no preset 'transformer'"),
        (JobSpec("gru", "toy", ("colour=red",)), "no setting 'colour'"),
        (JobSpec("gru", "toy", ("dim=many",)), "dim must be a whole number"),
    ],
)
def test_settings_that_do_not_fit_are_errors(plan, told):
    for look in (preflight.check, preflight.require):
        with pytest.raises(UserError, match=told):
            look(plan)


def test_a_disk_that_is_too_full(own_home, monkeypatch):
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


def test_pictures_that_are_still_to_be_drawn_need_room(own_home):
    plan = JobSpec("gru", "storybook", ("backbone=pocket", "crops=whole"))
    photos, look, disk = says(plan)
    assert photos[1] == (
        "4,500 pictures for training and validation; 4,500 of them will be drawn first."
    )
    assert (
        look[1] == "The features of about 4,500 pictures will be computed first, by pocket (whole)."
    )
    needed = 300_000_000 + 4500 * (photos_material.DRAWING_SIZE + photos_material.FEATURE_SIZE)
    assert f"about {needed / 1e6:.0f} MB are needed" in disk[1]
    few = JobSpec("gru", "storybook", ("backbone=pocket", "crops=whole", "photos=100"))
    assert says(few)[0][1].startswith("600 pictures")


def test_what_is_here_to_learn_from(own_home, toy_root, tmp_path, monkeypatch):
    assert preflight.available_datasets(settings("gru")) == ["toy", "storybook"]
    assert preflight.available_datasets(settings("gru", "backbone=pocket", "crops=whole")) == [
        *("storybook", "toy")
    ]
    assert preflight.available_datasets(settings("order/entailment")) == []
    assert preflight.available_datasets(settings("hypernyms")) == ["toy"]
    shutil.copytree(toy_root, tmp_path / "data")
    (tmp_path / "data" / "damaged").mkdir()
    (tmp_path / "data" / "damaged" / "captions.json").write_text("{")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    assert preflight.available_datasets(settings("gru")) == ["toy", "storybook"]


def test_settings_that_fit_a_preset_to_a_data_set(own_home):
    drawn = ("backbone=pocket", "crops=whole")
    assert preflight.default_settings(settings("gru"), "storybook") == drawn
    assert preflight.default_settings(settings("gru", *drawn), "storybook") == ()
    assert preflight.default_settings(settings("gru", *SETTINGS), "toy") == ()
    missing = settings("gru", "backbone=torchvision/resnet152")
    assert preflight.default_settings(missing, "toy") == drawn
    assert preflight.default_settings(settings("order/entailment"), None) == ()
    regions = settings("fragments")
    assert preflight.default_settings(regions, "storybook") == ("backbone=pocket",)
