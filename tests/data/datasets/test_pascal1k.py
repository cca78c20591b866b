import json
from itertools import chain

import pytest

from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.data.datasets.pascal1k import Pascal1k


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A thousand captioned names without photos."""
    captions = {f"{i:04}.jpg": {"category": "x", "captions": [f" {i} ", "b"]} for i in range(1000)}
    (tmp_path / "pascal1k" / "images").mkdir(parents=True)
    (tmp_path / "pascal1k" / "pascal_sentences.json").write_text(json.dumps(captions))
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))


def names(split: str, seed: int = 0) -> list[str]:
    return [p.name for p in Pascal1k(seed).load(split).photos]


@pytest.mark.usefixtures("small")
def test_the_split_is_800_100_100_disjoint_and_seeded():
    parts = {s: names(s) for s in ("train", "dev", "test")}
    assert [len(p) for p in parts.values()] == [800, 100, 100]
    assert sorted(chain(*parts.values())) == sorted(names("all"))
    assert len(set(names("all"))) == 1000
    assert names("test") == names("test", seed=0)
    assert set(names("test")) != set(names("test", seed=1))


@pytest.mark.usefixtures("small")
def test_captions_belong_to_their_photos():
    dev = Pascal1k().load("dev")
    for photo, (first, _) in zip(dev.photos, dev.captions_of, strict=True):
        assert dev.captions[first] == str(int(photo.stem))


@pytest.mark.usefixtures("small")
def test_check_reports_missing_photos():
    facts, problems = Pascal1k().check()
    assert facts[0] == "1,000 photos, 2,000 captions (2 to 2 each)"
    assert len(problems) == 1000
    assert problems[0] == "0000.jpg does not exist"


def test_missing_files_are_a_user_error(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    with pytest.raises(UserError, match="Pascal1K is missing"):
        Pascal1k().load("train")


@pytest.mark.usefixtures("real_data")
def test_check_and_split_of_the_real_data():
    assert Pascal1k().check() == (
        [
            "1,000 photos, 4,998 captions (4 to 6 each)",
            "random split of vsdemo, seed 0: train 800, dev 100, test 100",
        ],
        [],
    )
    parts = [set(names(s)) for s in ("train", "dev", "test")]
    assert [len(p) for p in parts] == [800, 100, 100]
    assert len(set.union(*parts)) == 1000
    assert names("test")[:2] == ["2008_005321.jpg", "2008_008232.jpg"]  # must never change


@pytest.mark.usefixtures("small")
def test_a_seed_in_the_name_selects_another_split():
    assert datasets.load("pascal1k", "test") == Pascal1k().load("test")
    assert datasets.load("pascal1k:3", "test") == Pascal1k(seed=3).load("test")
    assert datasets.load("pascal1k:3", "test").name == "pascal1k:3"
    assert [datasets.base_name(n) for n in ("pascal1k:3", "pascal1k")] == ["pascal1k"] * 2
    assert datasets.base_name("C:3") == "C:3"


@pytest.mark.parametrize("name", ["pascal1k:", "pascal1k:x", "pascal1k:-1", "storybook:1"])
def test_an_invalid_seed_is_a_user_error(name):
    with pytest.raises(UserError, match=r"no data set .* use one of .*pascal1k:SEED"):
        datasets.load(name, "test")
