"""An image network is not tested on photos that it has learned from."""

import pytest

from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.vision.backbones import leaks


@pytest.fixture
def photos(monkeypatch):
    """Two data sets that share photos, and a network that learned from the first."""
    known = {
        ("first", "train"): ["1.jpg", "2.jpg", "3.jpg"],
        ("first", "dev"): ["4.jpg"],
        ("first", "test"): ["5.jpg"],
        ("second", "dev"): ["4.jpg"],
        ("second", "test"): ["2.jpg", "3.jpg", "9.jpg"],
        ("third", "dev"): ["1.jpg"],
    }

    def of(dataset, split):
        if (dataset, split) not in known:
            raise UserError("there is no such split")
        return known[dataset, split]

    monkeypatch.setattr(datasets, "photos", of)
    monkeypatch.setattr(leaks, "LEARNED_FROM", {"pocket": (("first", "train"),)})


@pytest.mark.parametrize(
    ("dataset", "message"),
    [("second", "2 of the 3 photos of second's test split"), ("third", "1 of the 1 .* dev split")],
)
def test_held_out_photos_that_the_network_has_seen_are_refused(photos, dataset, message):
    with pytest.raises(UserError, match=f"pocket has learned from {message}"):
        leaks.check_unseen("pocket", dataset)


def test_other_photos_and_other_networks_are_accepted(photos):
    leaks.check_unseen("pocket", "first")
    leaks.check_unseen("torchvision/densenet169", "second")


@pytest.mark.parametrize("network", ["tuned:flickr8k/vse", "tuned:flickr8k/vse-pocket", "finder"])
def test_a_tuned_network_has_seen_the_photos_that_it_was_tuned_on(real_data, network):
    with pytest.raises(
        UserError, match=f"{network} has learned from .* of flickr8k:1's test split"
    ):
        leaks.check_unseen(network, "flickr8k:1")
    leaks.check_unseen(network, "flickr8k")


def test_a_network_that_was_tuned_over_pocket_has_seen_its_photos(real_data):
    with pytest.raises(UserError, match="has learned from 86 of the 100 photos of pascal1k:1"):
        leaks.check_unseen("tuned:flickr8k/vse-pocket", "pascal1k:1")


def test_a_model_that_owns_its_network_is_refused_on_its_photos(real_data, run):
    code, _, error = run("evaluate", "checkpoints/flickr8k/vse", "--data", "flickr8k:1")
    assert code == 2
    assert "has learned from" in error
    assert "such as flickr8k." in error


@pytest.mark.parametrize("config", ["", "[]", "{}"])
def test_a_tuned_network_whose_checkpoint_is_damaged_has_no_known_photos(
    tmp_path, monkeypatch, config
):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text(config)
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path))
    leaks.check_unseen("tuned:run", "flickr8k")


def test_pocket_is_refused_on_most_splits_of_pascal1k(real_data, run, tmp_path):
    settings = ("--set", "backbone=pocket", "--set", "crops=whole", "--out", tmp_path / "run")
    code, _, error = run("train", "bow", "--data", "pascal1k:1", *settings)
    assert code == 2
    assert "pocket has learned from 86 of the 100 photos of pascal1k:1's test split" in error
    leaks.check_unseen("pocket", "pascal1k")
    leaks.check_unseen("pocket", "flickr8k")
