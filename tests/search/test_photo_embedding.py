"""Embedding photos in shards: the vectors are those of the engine, and no photo comes twice."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from datetime import date, datetime

import numpy as np
import pytest
from PIL import Image
from pyarrow import parquet

from tests.support.photo_tars import photo_bytes, write_tar
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.paths import ROOT
from vsdemo.data.catalog.filters import Orientation, PhotoFilter
from vsdemo.data.photo_files import Shard, find_photos
from vsdemo.search import embedding_blocks
from vsdemo.search.embedding_blocks import block_paths, read_info, read_rows
from vsdemo.search.embedding_merge import merge
from vsdemo.search.engine import Reader
from vsdemo.search.export import to_matrix
from vsdemo.search.photo_embedding import PhotoEmbedder
from vsdemo.search.stores.folder import FolderStore

SHIPPED = ROOT / "checkpoints" / "storybook"
PHOTOS = 23
SIDECAR = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:DateTimeOriginal="{}"/></rdf:RDF></x:xmpmeta>"""
HALF = 2e-3  # precision of a vector of length 1 in float16, with another batch


@pytest.fixture(scope="module")
def embedder():
    return PhotoEmbedder(SHIPPED / "gru")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(embedding_blocks, "PHOTOS", 4)


@pytest.fixture
def folder(tmp_path):
    """Photos, one of them turned by its EXIF data, and two that cannot be read."""
    for number, content in enumerate(photo_bytes(PHOTOS)):
        path = tmp_path / "photos" / f"{number % 3}" / f"{number:02}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    turned = tmp_path / "photos" / "turned.jpg"
    photo = open_photo(tmp_path / "photos" / "0" / "00.jpg")
    exif = photo.getexif()
    exif[0x112] = 6  # Orientation: a quarter turn
    photo.save(turned, exif=exif)
    (tmp_path / "photos" / "0" / "damaged.jpg").write_bytes(photo_bytes(1)[0][:300])
    (tmp_path / "photos" / "2" / "empty.jpg").write_bytes(b"")
    return tmp_path / "photos"


@pytest.fixture
def tars(folder, tmp_path):
    """The photos of the folder with captions in tar files of ten."""
    paths = sorted(folder.rglob("*.jpg"))
    members = [(path.name, path.read_bytes()) for path in paths]
    for number in range(3):
        pairs = [
            part
            for name, content in members[10 * number : 10 * number + 10]
            for part in ((name, content), (f"{name[:-4]}.txt", f"caption {name}".encode()))
        ]
        write_tar(tmp_path / "tars" / f"{number:05}.tar", pairs)
    return tmp_path / "tars"


def run(embedder, source, to, shard="1/1", progress=lambda done, total: None):
    photos = find_photos(source, lambda done, total: None)
    return embedder.embed_shard(photos, Shard.parse(shard), to, progress)


def rows(to):
    """Return image paths, captions and vectors of all blocks."""
    tables = [read_rows(path) for path in block_paths(to)]
    names = [name for table in tables for name in table["image_path"].to_pylist()]
    captions = [caption for table in tables for caption in table["caption"].to_pylist()]
    return names, captions, np.concatenate([to_matrix(table) for table in tables if len(table)])


def test_what_is_known_of_the_photos(embedder, tmp_path):
    photo = wide_photo(tmp_path)
    exif = photo.getexif()
    exif[0x112], exif[0x10F], exif[0x110] = 6, "Canon", "Canon EOS R"  # a quarter turn
    exif[0x132] = "2024:05:31 14:02:11"
    photo.save(tmp_path / "photos" / "known.jpg", exif=exif)
    sidecar = tmp_path / "photos" / "plain.jpg.xmp"
    sidecar.write_text(SIDECAR.format("2023-01-02T03:04:05"))
    run(embedder, tmp_path / "photos", tmp_path / "out")
    (path,) = block_paths(tmp_path / "out")
    known, plain = read_rows(path).drop_columns("embedding").to_pylist()
    width, height = photo.size
    assert known == {
        "image_path": "known.jpg",
        "caption": None,
        "taken": datetime(2024, 5, 31, 14, 2, 11),
        "camera": "Canon EOS R",
        "width": height,
        "height": width,
    }
    assert plain["taken"] == datetime(2023, 1, 2, 3, 4, 5)
    assert (plain["camera"], plain["width"], plain["height"]) == ("", width, height)


def test_stores_have_conditions_on_what_is_known(embedder, tmp_path):
    photo = wide_photo(tmp_path)
    exif = photo.getexif()
    exif[0x132] = "2024:05:31 14:02:11"
    photo.save(tmp_path / "photos" / "known.jpg", exif=exif)
    run(embedder, tmp_path / "photos", tmp_path / "out")
    merge(tmp_path / "out", lambda done, total: None)
    store = FolderStore(tmp_path / "out")
    assert store.meeting(PhotoFilter(since=date(2024, 1, 1))).tolist() == [0]
    assert store.meeting(PhotoFilter(orientation=Orientation.PORTRAIT)).tolist() == []


def wide_photo(folder):
    """Write a wide photo plain.jpg below a folder, and return it."""
    (folder / "photos").mkdir()
    photo = Image.new("RGB", (200, 120), "green")
    photo.save(folder / "photos" / "plain.jpg")
    return photo


def contents(to):
    return {path.name: path.read_bytes() for path in block_paths(to)}


def test_vectors_are_those_of_the_engine(embedder, folder, tmp_path):
    summary = run(embedder, folder, tmp_path / "out")
    names, captions, x = rows(tmp_path / "out")
    photos = sorted(folder.rglob("*.jpg"))
    readable = [p for p in photos if p.stem not in ("damaged", "empty")]
    assert names == [str(photo.relative_to(folder)) for photo in readable]
    assert set(captions) == {None}
    expected = Reader(SHIPPED / "gru").encode_photos(map(open_photo, readable)).x
    assert x.dtype == np.float16
    np.testing.assert_allclose(x.astype(np.float32), expected, atol=HALF)
    assert (summary.photos, summary.new, summary.blocks) == (PHOTOS + 1, PHOTOS + 1, 7)
    assert summary.unreadable == {
        "0/damaged.jpg": "damaged.jpg is damaged or truncated.",
        "2/empty.jpg": "empty.jpg is empty (0 bytes); choose another photo.",
    }


@pytest.mark.parametrize("kind", ["folder", "tars"])
def test_shards_give_what_one_run_gives(embedder, request, kind, tmp_path):
    source = request.getfixturevalue(kind)
    run(embedder, source, tmp_path / "one")
    for shard in ("2/3", "3/3", "1/3"):
        run(embedder, source, tmp_path / "three", shard)
    one, three = rows(tmp_path / "one"), rows(tmp_path / "three")
    assert one[:2] == three[:2]
    np.testing.assert_allclose(one[2].astype(float), three[2].astype(float), atol=HALF)


def test_tar_files_give_what_their_folder_gives(embedder, folder, tars, tmp_path):
    run(embedder, folder, tmp_path / "folder")
    run(embedder, tars, tmp_path / "tars")
    of_folder, of_tars = rows(tmp_path / "folder"), rows(tmp_path / "tars")
    names = [name.split("/")[-1] for name in of_folder[0]]
    assert [name.split("/")[-1] for name in of_tars[0]] == names
    assert of_tars[1] == [f"caption {name}" for name in names]
    np.testing.assert_allclose(of_folder[2].astype(float), of_tars[2].astype(float), atol=HALF)


@pytest.mark.parametrize("kind", ["folder", "tars"])
def test_an_interrupted_run_continues_after_the_last_block(embedder, request, kind, tmp_path):
    source = request.getfixturevalue(kind)
    run(embedder, source, tmp_path / "whole")
    to = tmp_path / "parts"

    def interrupt(done, total):
        if done >= 11:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(embedder, source, to, progress=interrupt)
    assert len(block_paths(to)) == 2  # of four photos each
    first = contents(to)
    seen = []
    summary = run(embedder, source, to, progress=lambda *counts: seen.append(counts))
    assert contents(to) == contents(tmp_path / "whole")
    assert first.items() <= contents(to).items()
    names = rows(to)[0]
    assert len(names) == len(set(names)) == summary.photos == PHOTOS + 1
    assert seen[0][0] == 8  # those of the first run are done
    assert seen[-1] == (PHOTOS + 3, PHOTOS + 3)
    assert summary.new == PHOTOS + 1 - sum(read_info(to / "blocks" / n).photos for n in first)


def test_blocks_that_are_missing_or_cut_short_are_written_again(embedder, folder, tmp_path):
    to = tmp_path / "out"
    run(embedder, folder, to)
    before = contents(to)
    gone, short, empty = block_paths(to)[1:4]
    gone.unlink()
    short.write_bytes(short.read_bytes()[:-100])
    empty.write_bytes(b"")
    summary = run(embedder, folder, to)
    assert contents(to) == before
    assert summary.new == sum(read_info(path).photos for path in (gone, short, empty))
    assert run(embedder, folder, to).new == 0


def test_progress_of_tar_files_is_estimated(embedder, tars, tmp_path):
    seen = []
    run(embedder, tars, tmp_path / "out", progress=lambda *counts: seen.append(counts))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert all(done <= total < 2 * (PHOTOS + 3) for done, total in seen)
    assert seen[-1] == (PHOTOS + 3, PHOTOS + 3)


def test_blocks_without_a_readable_photo_do_not_end_the_run(embedder, tmp_path):
    (tmp_path / "photos").mkdir()
    for number in range(5):
        (tmp_path / "photos" / f"{number}.jpg").write_text("no photo")
    (tmp_path / "photos" / "5.jpg").write_bytes(photo_bytes(1)[0])
    summary = run(embedder, tmp_path / "photos", tmp_path / "out")
    assert (summary.photos, len(summary.unreadable), summary.blocks) == (1, 5, 2)
    assert rows(tmp_path / "out")[0] == ["5.jpg"]


def test_names_that_are_not_utf_8_are_written(embedder, tmp_path):
    (tmp_path / "photos").mkdir()
    for name in ("caf\udce9.jpg", "caf\udce9.txt"):  # Latin-1
        (tmp_path / "photos" / name).write_bytes(photo_bytes(1)[0] if "jpg" in name else b"\xe9")
    (tmp_path / "photos" / "d\udce9.jpg").write_bytes(b"no photo")
    summary = run(embedder, tmp_path / "photos", tmp_path / "out")
    assert rows(tmp_path / "out")[:2] == (["caf?.jpg"], ["\ufffd"])
    assert list(summary.unreadable) == ["d?.jpg"]


def test_a_block_can_be_read_by_other_programs(embedder, tars, tmp_path):
    run(embedder, tars, tmp_path / "out")
    path = block_paths(tmp_path / "out")[0]
    assert path.name == "00001-of-00001-000000.parquet"
    about = json.loads(parquet.read_schema(path).metadata[b"vsdemo"])
    assert about["origin"]["content_hash"] == Reader(SHIPPED / "gru").content_hash
    assert (about["photos"], about["captions"], about["shard"]) == (4, 4, [1, 1])


@pytest.mark.parametrize("name", ["bow", "other_photos", "other_number"])
def test_blocks_of_something_else_are_refused(embedder, folder, tmp_path, name, is_one_sentence):
    to, shard = tmp_path / "out", "1/2"
    run(embedder, folder, to, shard)
    match name:
        case "bow":
            embedder = PhotoEmbedder(SHIPPED / "bow")
            reason = (
                r"blocks/00001-of-00002-000000.parquet comes from the checkpoint storybook/gru \("
            )
        case "other_photos":
            (folder / "new.jpg").write_bytes(photo_bytes(1)[0])
            reason = "comes from other photos .26 files in photos, not 27 in photos, or other sizes"
        case _:
            shard, reason = "2/3", "belongs to a division into 2 shards, not into 3"
    before = contents(to)
    with pytest.raises(UserError, match=reason) as caught:
        run(embedder, folder, to, shard)
    assert is_one_sentence(caught)
    assert contents(to) == before


def test_models_without_one_vector_for_a_photo_are_refused(is_one_sentence):
    with pytest.raises(UserError, match="has several vectors for a photo") as caught:
        PhotoEmbedder(SHIPPED / "fragments")
    assert is_one_sentence(caught)
    with pytest.raises(UserError, match="was trained without photos"):
        PhotoEmbedder(ROOT / "checkpoints" / "wordnet" / "order")


def test_a_full_disk_is_one_sentence_and_leaves_no_block(embedder, folder, tmp_path, monkeypatch):
    def full(*args, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(parquet, "write_table", full)
        message = re.escape("cannot be written (No space left on device); make room there")
        with pytest.raises(UserError, match=message):
            run(embedder, folder, tmp_path / "out")
    assert block_paths(tmp_path / "out") == []
    assert run(embedder, folder, tmp_path / "out").photos == PHOTOS + 1


PROGRAM = """
from vsdemo.search import embedding_blocks
from vsdemo.cli import main
embedding_blocks.PHOTOS = 4
main()
"""


@pytest.mark.long
def test_a_run_that_is_killed_continues(embedder, folder, tmp_path):
    for copy in range(8):
        shutil.copytree(folder / "1", folder / f"copy {copy}")
    run(embedder, folder, tmp_path / "whole")
    to = tmp_path / "killed"
    words = ["embed-photos", SHIPPED / "gru", folder, "--out", to]
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    kills = 0
    while True:
        before = len(block_paths(to))
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        while process.poll() is None and len(block_paths(to)) < before + 3:
            time.sleep(0.002)
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
    assert process.returncode == 0
    assert kills >= 3
    (names, _, x), (expected, _, y) = rows(to), rows(tmp_path / "whole")
    assert names == expected
    np.testing.assert_allclose(x.astype(float), y.astype(float), atol=HALF)
    np.testing.assert_array_equal(np.load(to / "img_emb" / "img_emb_0.npy"), x)
