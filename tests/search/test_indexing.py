"""Indexing a folder: only what has changed is read, nothing is lost, nothing is done twice."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from random import Random
from threading import Event

import pytest
import torch
from PIL import Image
from safetensors import safe_open

from tests.conftest import BACKBONE, draw
from tests.support.crashing_cutter import CrashingCutter
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.images import open_photo
from vsdemo.data.catalog.catalog import Catalog
from vsdemo.search import examiners, index_bench, indexing
from vsdemo.search.engine import Engine
from vsdemo.vision.features import FeatureCache

COLOURS = ("red", "green", "blue", "yellow", "black", "white")


@pytest.fixture
def folder(own_home, tmp_path):
    """Ten photos, two of them with the same content, and a file that is none."""
    photos = tmp_path / "photos"
    (photos / "below").mkdir(parents=True)
    for number, colour in enumerate(COLOURS):
        ground = COLOURS[number - 1]
        draw("circle", colour, ground).save(photos / f"{number}.png")
        draw("bar", colour, ground).save(photos / "below" / f"{number}.jpg")
    shutil.copy(photos / "0.png", photos / "copy.png")
    (photos / "damaged.jpg").write_bytes(b"no photo")
    return photos


@pytest.fixture
def caches(toy_checkpoint):
    return indexing.feature_caches([toy_checkpoint])


def run(folder, caches, cancel=None, progress=lambda *a: None):
    catalog = Catalog.create("mine", folder)
    return indexing.index_folder(catalog, caches, progress, cancel or Event())


def counts(summary):
    return tuple(
        getattr(summary, name)
        for name in ("photos", "new", "changed", "moved", "removed", "unreadable")
    )


def test_the_features_are_those_of_the_photos_themselves(folder, caches, own_home):
    assert counts(run(folder, caches)) == (13, 14, 0, 0, 0, 1)
    (cache,) = caches
    names, keys = Catalog("mine").photos()
    photos = [folder / name for name in names]
    assert len(cache.known()) == 12  # two photos have the same content
    stored = cache.get(photos, keys=keys)
    direct = torch.cat([cache.encode([open_photo(photo)]) for photo in photos])
    assert torch.allclose(stored, direct, atol=2e-3)  # of half precision


def test_workers_give_what_one_process_gives(folder, caches, monkeypatch):
    run(folder, caches)
    expected = Catalog("mine").entries()
    photos = [folder / name for name in Catalog("mine").photos()[0]]
    vectors = caches[0].get(photos)
    shutil.rmtree(caches[0].folder)
    shutil.rmtree(Catalog("mine").file.parent)
    monkeypatch.setattr(examiners, "FEW", 100)
    run(folder, caches)
    assert Catalog("mine").entries() == expected
    assert torch.allclose(caches[0].get(photos), vectors, atol=2e-3)


def test_a_second_run_reads_nothing(folder, caches, monkeypatch):
    run(folder, caches)
    monkeypatch.setattr(indexing, "examine_all", None)
    assert counts(run(folder, caches)) == (13, 0, 0, 0, 0, 1)


def test_an_older_index_gets_looks_without_reading_photos(folder, caches, monkeypatch):
    run(folder, caches)
    catalog = Catalog("mine")
    contents = catalog.photos()[1]
    looks = catalog.looks(contents)
    assert len(set(looks.tolist())) > 6
    with closing(sqlite3.connect(catalog.file)) as connection, connection:
        connection.execute("DROP TABLE looks")
        connection.execute("UPDATE facts SET value = '1' WHERE name = 'version'")
    monkeypatch.setattr(indexing, "examine_all", None)
    monkeypatch.setattr(indexing, "THUMBNAILS", 5)
    assert counts(run(folder, caches)) == (13, 0, 0, 0, 0, 1)
    assert Catalog("mine").looks(contents).tolist() == looks.tolist()


def test_only_changes_are_read(folder, caches, monkeypatch):
    run(folder, caches)
    read = []
    real = indexing.examine_all

    def examine_all(task, files):
        read.extend(file.path for file in files)
        return real(task, files)

    monkeypatch.setattr(indexing, "examine_all", examine_all)
    draw("square", "red", "blue").save(folder / "new.png")
    draw("square", "blue", "red").save(folder / "0.png")
    (folder / "1.png").rename(folder / "below" / "other.png")
    (folder / "2.png").unlink()
    assert counts(run(folder, caches)) == (13, 1, 1, 1, 1, 1)
    assert sorted(read) == ["0.png", "new.png"]
    names = {entry.path for entry in Catalog("mine").entries()}
    assert {"new.png", "below/other.png"} <= names
    assert not {"1.png", "2.png"} & names


def test_another_model_reads_photos_again_but_adds_none(folder, caches, toy_checkpoint):
    run(folder, caches)
    other = FeatureCache("torchvision/mobilenet_v3_small", "mirror")
    assert counts(run(folder, [*caches, other])) == (13, 0, 0, 0, 0, 1)
    assert other.known().keys() == caches[0].known().keys()


def test_a_stopped_run_is_continued(folder, caches, monkeypatch):
    monkeypatch.setattr(indexing, "FIRST_PART", 3)
    monkeypatch.setattr(indexing, "SHARD", 3)
    stop = Event()

    def report(stage, done, total):
        if done == 5:
            stop.set()

    catalog = Catalog.create("mine", folder)
    with pytest.raises(Cancelled):
        indexing.index_folder(catalog, caches, report, stop)
    kept = len(catalog.files())
    assert 5 <= kept < 14
    assert run(folder, caches).new == 14 - kept
    assert len(caches[0].known()) == 12


def test_an_empty_folder_loses_nothing(folder, caches, is_one_sentence):
    run(folder, caches)
    shutil.rmtree(folder)
    folder.mkdir()
    with pytest.raises(UserError, match="connect its drive") as caught:
        run(folder, caches)
    assert "13" in str(caught.value) or "14" in str(caught.value)
    assert len(Catalog("mine").files()) == 14


def test_photos_below_an_unreadable_folder_are_kept(folder, caches, monkeypatch):
    run(folder, caches)
    real = os.scandir

    def scandir(path):
        if str(path).endswith("below"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    summary = run(folder, caches)
    assert (summary.photos, summary.removed, summary.unreadable) == (13, 0, 2)


def test_a_drive_that_vanishes_leaves_no_problems(folder, caches, monkeypatch):
    def examine_all(task, files):
        shutil.rmtree(folder)
        return real(task, files)

    real = indexing.examine_all
    monkeypatch.setattr(indexing, "examine_all", examine_all)
    with pytest.raises(UserError, match="vanished"):
        run(folder, caches)
    assert Catalog("mine").files() == {}


def test_a_file_that_changes_while_it_is_read_is_read_again(folder, caches, monkeypatch):
    listed = indexing.scan

    def scan(path, progress, cancel):
        result = listed(path, progress, cancel)
        os.utime(folder / "0.png", ns=(1, 1))
        return result

    monkeypatch.setattr(indexing, "scan", scan)
    run(folder, caches)
    assert "changed while" in Catalog("mine").problems()["0.png"]
    monkeypatch.setattr(indexing, "scan", listed)
    assert run(folder, caches).changed == 1
    assert "0.png" not in Catalog("mine").problems()


def test_a_decoder_that_crashes_ends_one_photo(folder, caches):
    Image.new("RGB", (64, 64)).save(folder / "crash.png")
    task = examiners.Task(folder, (CrashingCutter(caches[0].cutter()),))
    files = indexing.scan(folder, lambda done, total: None, Event()).files
    results = {record.file.path: record for record, _ in examiners.examine_all(task, files)}
    assert len(results) == len(files)
    assert "crash" in results["crash.png"].problem
    assert sum(not record.problem for record in results.values()) == 13


def test_an_indexed_folder_is_searched_by_its_name(folder, caches, toy_checkpoint, monkeypatch):
    run(folder, caches)
    monkeypatch.setattr("vsdemo.vision.features.photo_key", None)  # no file is read
    engine = Engine(toy_checkpoint, "mine")
    assert len(engine.photos) == 13
    assert engine.search("a red circle on a white ground", 3)


def test_a_name_that_is_no_utf8_can_be_shown(folder, caches, toy_checkpoint):
    draw("bar", "red", "black").save(folder / os.fsdecode(b"caf\xe9.png"))
    run(folder, caches)
    names = [hit.item for hit in Engine(toy_checkpoint, "mine").search("a red bar", 20)]
    assert "caf?.png" in names


def test_regions_are_computed_after_the_photos_are_read(folder, caches):
    windows = FeatureCache(BACKBONE, "windows")
    stages = []
    run(folder, [*caches, windows], progress=lambda stage, *_: stages.append(stage))
    keys = Catalog("mine").photos()[1]
    assert windows.missing(keys) == []
    assert stages[-1] == indexing.REGIONS
    again = []
    run(folder, [windows], progress=lambda stage, *_: again.append(stage))
    assert indexing.REGIONS not in again


def test_cancelled_regions_are_continued(folder, caches):
    windows, cancel = FeatureCache(BACKBONE, "windows"), Event()

    def stop(stage, *_):
        if stage == indexing.REGIONS:
            cancel.set()

    with pytest.raises(Cancelled):
        run(folder, [*caches, windows], cancel, stop)
    assert run(folder, [windows]).new == 0
    assert windows.missing(Catalog("mine").photos()[1]) == []


@pytest.mark.long
def test_the_bench_leaves_nothing_behind(own_home, monkeypatch):
    monkeypatch.setattr(index_bench, "SIZE", (400, 300))
    monkeypatch.setattr(index_bench, "SMALL_FILES", 50)
    monkeypatch.setattr(index_bench, "STORED", 1000)
    result = index_bench.measure(12, lambda *a: None)
    assert result["index"] > 0
    assert result["bare"] > 0
    assert result["ratio"] == pytest.approx(result["index"] / result["bare"], rel=0.02)
    assert os.environ["VSDEMO_HOME"] == str(own_home)
    assert not (own_home / "catalogs").exists()


INDEX = """
import sys
from pathlib import Path
from threading import Event
from vsdemo.data.catalog.catalog import Catalog
from vsdemo.search import examiners, indexing

examiners.FEW, indexing.FIRST_PART, indexing.SHARD = 1000, 2, 3
caches = indexing.feature_caches([Path(sys.argv[2])])
catalog = Catalog.create("mine", Path(sys.argv[1]))
print("ready", flush=True)
indexing.index_folder(catalog, caches, lambda *a: None, Event())
print("done", flush=True)
"""


@pytest.mark.long
def test_fifty_kills_lose_and_double_nothing(folder, caches, toy_checkpoint, own_home):
    for number in range(200):
        draw("square", COLOURS[number % 6], COLOURS[(number + 1) % 6]).resize(
            (100 + number, 80)
        ).save(folder / f"more{number:03}.png")
    command = [sys.executable, "-c", INDEX, str(folder), str(toy_checkpoint)]
    kills = 0
    random = Random(0)
    while kills < 50:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(random.uniform(0, 0.15))
        process.kill()
        if "done" in process.communicate()[0]:
            shutil.rmtree(caches[0].folder)
            shutil.rmtree(Catalog("mine").file.parent)
        kills += 1
    subprocess.run(command, check=True)
    survived = Catalog("mine")
    entries, problems = survived.entries(), survived.problems()
    stored = sorted(
        key for file in caches[0].folder.rglob("*.safetensors") for key in keys_of(file)
    )
    assert len(stored) == len(set(stored)) == 212
    names, keys = survived.photos()
    photos = [folder / name for name in names]
    vectors = caches[0].get(photos, keys=keys)
    shutil.rmtree(caches[0].folder)
    shutil.rmtree(survived.file.parent)
    run(folder, caches)
    assert (Catalog("mine").entries(), Catalog("mine").problems()) == (entries, problems)
    torch.testing.assert_close(caches[0].get(photos, keys=keys), vectors, atol=2e-3, rtol=0)


def keys_of(file):
    with safe_open(file, "pt") as opened:
        return opened.metadata()["keys"].split()
