"""Features in tar files: WebDataset reads them, and damaged files are refused."""

import gc
import shutil

import numpy as np
import pytest
import torch
import webdataset

from vsdemo.core.errors import UserError
from vsdemo.core.stored_features import About, Record, StoredFeatures, write_file

PHOTOS, LENGTH = 5, 7


@pytest.fixture
def features() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(2 * PHOTOS, LENGTH)).astype(np.float32)


def record(number: int) -> Record:
    return Record(f"{number}.jpg", f"{number:032}", (f"caption {number}", "Ein Café"))


@pytest.fixture
def folder(tmp_path, features):
    """Return a folder with two files of a split."""
    About("toy", "pocket", "whole", "hash", "content", {"train": 2}).write(tmp_path)
    for number in range(2):
        rows = range(number * PHOTOS, (number + 1) * PHOTOS)
        path = tmp_path / "train" / f"{number}.tar"
        write_file(path, rows.start, [record(row) for row in rows], features[rows])
    return tmp_path


def read(folder) -> torch.Tensor:
    stored, _ = StoredFeatures.open(folder, ["train"])
    return stored.all()


def test_rows_are_read_in_any_order(folder, features):
    stored, records = StoredFeatures.open(folder, ["train"])
    assert records == [record(row) for row in range(2 * PHOTOS)]
    assert stored.shape == features.shape
    rows = torch.tensor([7, 0, 7, 4, 9])
    assert torch.equal(stored[rows], torch.from_numpy(features)[rows])
    some = stored.only([8, 1, 3])
    assert torch.equal(some[torch.tensor([2, 0])], torch.from_numpy(features)[[3, 8]])


def test_half_precision_loses_nothing(folder, features):
    """Features that it holds exactly take half the space."""
    halves = features.astype(np.float16).astype(np.float32)
    whole = (folder / "train" / "0.tar").stat().st_size
    for number in range(2):
        rows = range(number * PHOTOS, (number + 1) * PHOTOS)
        path = folder / "train" / f"{number}.tar"
        write_file(path, rows.start, [record(row) for row in rows], halves[rows])
    assert np.array_equal(read(folder).numpy(), halves)
    stored, _ = StoredFeatures.open(folder, ["train"])
    assert stored._files[0].type == np.float16
    assert (folder / "train" / "0.tar").stat().st_size <= whole


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_webdataset_reads_the_files(folder, features):
    files = [str(folder / "train" / f"{number}.tar") for number in range(2)]
    samples = list(webdataset.WebDataset(files, shardshuffle=False).decode())
    assert np.array_equal([sample["features.npy"] for sample in samples], features)
    for number, sample in enumerate(samples):
        assert sample["__key__"] == f"{number:07}"
        assert sample["json"] == record(number)._asdict() | {
            "captions": list(record(number).captions)
        }
    gc.collect()  # webdataset leaves files open


def test_missing_files_are_named(folder):
    (folder / "train" / "1.tar").unlink()
    with pytest.raises(UserError, match=r"train/1\.tar is missing; copy it again"):
        read(folder)


def test_double_files_are_named(folder):
    shutil.copy(folder / "train" / "0.tar", folder / "train" / "1.tar")
    with pytest.raises(UserError, match=r"1\.tar has the photo 0000000 of .*0\.tar"):
        read(folder)


@pytest.mark.parametrize("kept", [0, 100, 700, 512 + 512, 4 * 1024])
def test_files_that_are_cut_short_are_refused(folder, kept):
    path = folder / "train" / "0.tar"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(UserError, match=r"0\.tar is damaged \(.*write the folder again"):
        read(folder)


def test_a_file_without_its_end_is_refused(folder):
    """Also where it is cut between two entries, of which tarfile says nothing."""
    path = folder / "train" / "0.tar"
    path.write_bytes(path.read_bytes().rstrip(b"\0"))
    content = path.read_bytes()
    path.write_bytes(content + bytes(-len(content) % 512))
    with pytest.raises(UserError, match="is damaged"):
        read(folder)


def test_features_that_are_not_finite_are_refused(folder, features):
    path = folder / "train" / "0.tar"
    content = path.read_bytes()
    path.write_bytes(content.replace(features[2, 3].tobytes(), np.float32("nan").tobytes()))
    with pytest.raises(UserError, match="0000002 is not finite"):
        read(folder)
    features[0, 0] = np.inf
    with pytest.raises(UserError, match=r"features of 0\.jpg are not finite"):
        write_file(path, 0, [record(row) for row in range(2 * PHOTOS)], features)


def test_a_file_that_changes_while_it_is_read_is_refused(folder):
    stored, _ = StoredFeatures.open(folder, ["train"])
    path = folder / "train" / "0.tar"
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(UserError, match="0000000 has other features"):
        stored.all()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 2}'])
def test_a_damaged_description_is_refused(folder, text):
    (folder / "features.json").write_text(text)
    with pytest.raises(UserError, match=r"features\.json is missing or damaged"):
        read(folder)


def test_files_of_other_features_are_refused(folder):
    path = folder / "train" / "1.tar"
    write_file(path, PHOTOS, [record(PHOTOS)], np.ones((1, LENGTH + 1), np.float32))
    with pytest.raises(UserError, match=r"1\.tar is damaged \(its features are not those of 0"):
        read(folder)
