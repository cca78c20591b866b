"""Merging shards: the layout of clip-retrieval, and one sentence for each thing that is wrong."""

import csv
import errno
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest

from tests.support.photo_tars import photo_bytes, write_tar
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.data.photo_files import Shard, find_photos
from vsdemo.search import embedding_blocks, embedding_merge
from vsdemo.search.embedding_blocks import block_path, read_rows
from vsdemo.search.export import to_matrix
from vsdemo.search.photo_embedding import PhotoEmbedder

SHIPPED = ROOT / "checkpoints" / "storybook"
SHARDS = 3


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Three shards, of two blocks each, of tar files with a damaged photo; also by other models."""
    folder = tmp_path_factory.mktemp("made")
    for number in range(SHARDS):
        members = [(f"{number}{i}.jpg", photo) for i, photo in enumerate(photo_bytes(7))]
        members.append((f"{number}0.txt", b"the first, of its tar file"))
        if number == 1:
            members.append(("bad.jpg", b"no photo"))
        write_tar(folder / "tars" / f"{number}.tar", members)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding_blocks, "PHOTOS", 4)
        embed(SHIPPED / "gru", folder / "tars", folder / "gru")
        embed(SHIPPED / "bow", folder / "tars", folder / "bow")
        write_tar(folder / "others" / "0.tar", [("a.jpg", photo_bytes(1)[0])])
        for number in (1, 2):
            shutil.copy(folder / "tars" / f"{number}.tar", folder / "others")
        embed(SHIPPED / "gru", folder / "others", folder / "other photos")
        embed(SHIPPED / "gru", folder / "tars", folder / "halves", shards=2)
    return folder


def embed(checkpoint, source, to, shards=SHARDS):
    embedder = PhotoEmbedder(checkpoint)
    photos = find_photos(source, lambda done, total: None)
    for number in range(1, shards + 1):
        embedder.embed_shard(photos, Shard(number, shards), to, lambda done, total: None)


@pytest.fixture
def out(made, tmp_path):
    """A copy of the blocks."""
    shutil.copytree(made / "gru", tmp_path / "out")
    return tmp_path / "out"


def merge(folder, progress=lambda done, total: None):
    return embedding_merge.merge(folder, progress)


def block(folder, shard, number):
    return block_path(folder, Shard(shard, SHARDS), number)


def files(folder):
    paths = (path for path in folder.rglob("*") if path.is_file())
    return sorted(str(path.relative_to(folder)) for path in paths if path.parent.name != "blocks")


def read(folder):
    """Return matrix and table of the merged files, each read in order of their names."""
    matrices = [np.load(p, mmap_mode="r") for p in sorted(folder.glob("img_emb/*.npy"))]
    tables = [pd.read_parquet(p) for p in sorted(folder.glob("metadata/*.parquet"))]
    assert [len(matrix) for matrix in matrices] == [len(table) for table in tables]
    return np.concatenate(matrices), pd.concat(tables, ignore_index=True)


def test_rows_are_those_of_the_blocks_in_the_order_of_the_photos(out):
    seen = []
    about = merge(out, lambda *counts: seen.append(counts))
    x, table = read(out)
    blocks = [read_rows(block(out, shard, n)) for shard in (1, 2, 3) for n in (0, 1)]
    assert x.dtype == np.float16
    np.testing.assert_array_equal(x, np.concatenate([to_matrix(b) for b in blocks]))
    assert table.columns.tolist() == [*embedding_blocks.COLUMNS]
    assert table.image_path.tolist() == [
        f"{tar}.tar/{tar}{number}.jpg" for tar in range(3) for number in range(7)
    ]
    captioned = table[table.caption.notna()]
    assert captioned.image_path.tolist() == ["0.tar/00.jpg", "1.tar/10.jpg", "2.tar/20.jpg"]
    assert set(captioned.caption) == {"the first, of its tar file"}
    assert seen[-1] == (21, 21)
    assert json.loads((out / "embeddings.json").read_text()) == about
    assert (about["checkpoint"], about["score"]) == ("storybook/gru", "cosine")
    assert (about["dim"], about["type"], about["shards"]) == (x.shape[1], "float16", 3)
    assert (about["photos"], about["captions"], about["unreadable"]) == (21, 3, 1)
    with (out / "unreadable.csv").open() as file:
        assert list(csv.reader(file)) == [
            ["image_path", "reason"],
            ["1.tar/bad.jpg", "bad.jpg is not a readable photo; use JPEG, PNG or WebP."],
        ]


def test_the_layout_is_that_of_clip_retrieval(out):
    merge(out)
    assert files(out) == [
        "embeddings.json",
        "img_emb/img_emb_0.npy",
        "metadata/metadata_0.parquet",
        "unreadable.csv",
    ]


def test_large_results_are_in_several_files(out, monkeypatch):
    merge(out)
    x, table = read(out)
    monkeypatch.setattr(embedding_merge, "ROWS", 2)
    assert merge(out)["files"] == 11
    names = [name for name in files(out) if "/" in name]
    assert names == [f"img_emb/img_emb_{n:02}.npy" for n in range(11)] + [
        f"metadata/metadata_{n:02}.parquet" for n in range(11)
    ]
    again, again_table = read(out)
    np.testing.assert_array_equal(again, x)
    pd.testing.assert_frame_equal(again_table, table)


def test_without_captions_there_is_no_such_column(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(photo_bytes(1)[0])
    embed(SHIPPED / "gru", tmp_path / "photos", tmp_path / "out", shards=1)
    merge(tmp_path / "out")
    columns = [name for name in embedding_blocks.COLUMNS if name != "caption"]
    assert read(tmp_path / "out")[1].columns.tolist() == columns


def test_what_an_interrupted_run_has_left_is_removed(out):
    leftover = out / "blocks" / ".00001-of-00003-000000.parquet.1.2.tmp"
    leftover.write_bytes(b"half")
    (out / "img_emb").mkdir()
    (out / "img_emb" / "img_emb_1.npy").write_bytes(b"of an older merge")
    (out / "img_emb" / "notes.txt").write_text("somebody's")
    merge(out)
    assert not leftover.exists()
    names = ["img_emb/img_emb_0.npy", "img_emb/notes.txt"]
    assert [name for name in files(out) if "img_emb" in name] == names


def first_missing(made, out):
    for number in (0, 1):
        block(out, 2, number).unlink()
    return "Shard 2/3 is missing in"


def two_missing(made, out):
    for shard in (1, 3):
        for number in (0, 1):
            block(out, shard, number).unlink()
    return "Shard 1/3 (and 1 more) is missing in"


def incomplete(made, out):
    block(out, 3, 1).unlink()
    return "Shard 3/3 is not complete after"


def a_block_missing(made, out):
    block(out, 1, 0).unlink()
    return f"{block(out, 1, 0)} is missing; run the command of shard 1/3 again"


def another_block_missing(made, out):
    block(out, 2, 0).unlink()
    return f"{block(out, 2, 0)} is missing; run the command of shard 2/3 again"


def cut_short(made, out):
    path = block(out, 2, 1)
    path.write_bytes(path.read_bytes()[:-1000])
    return f"{path} is damaged or cut short; delete it, and run the command of shard 2/3 again"


def first_cut_short(made, out):
    path = block(out, 1, 0)
    path.write_bytes(path.read_bytes()[:1000])
    return f"{path} is damaged or cut short; delete it, and run the command of shard 1/3 again"


def changed(made, out):
    path = block(out, 2, 1)
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1  # in the rows: the end still says what they are
    path.write_bytes(content)
    return f"{path} is damaged or cut short; delete it, and run the command of shard 2/3 again"


def twice(made, out):
    shutil.copy(block(out, 1, 0), block(out, 2, 0))
    return f"{block(out, 2, 0)} is a copy of block 0 of shard 1/3; delete it"


def a_copy(made, out):
    copy = out / "blocks" / "00001-of-00003-000000 (1).parquet"
    shutil.copy(block(out, 1, 0), copy)
    return f"{copy} is not named like a block and may be a copy of one; delete it"


def of_another_checkpoint(made, out):
    shutil.copy(block(made / "bow", 2, 1), block(out, 2, 1))
    return f"{block(out, 2, 1)} comes from the checkpoint storybook/bow ("


def of_other_photos(made, out):
    shutil.copy(block(made / "other photos", 2, 1), block(out, 2, 1))
    return f"{block(out, 2, 1)} comes from other photos (3 files in others, not 3 in tars, or other"


def of_another_division(made, out):
    shutil.copy(block_path(made / "halves", Shard(1, 2), 0), out / "blocks")
    return "belongs to a division into 3 shards, others to one into 2"


def one_too_many(made, out):
    extra = block(out, 1, 2)
    shutil.copy(block(out, 1, 1), extra)
    return f"{extra} is a copy of block 1 of shard 1/3"


def no_blocks(made, out):
    shutil.rmtree(out / "blocks")
    return f"There are no embeddings in {out / 'blocks'}"


@pytest.mark.parametrize(
    "spoil",
    [
        first_missing,
        two_missing,
        incomplete,
        a_block_missing,
        another_block_missing,
        cut_short,
        first_cut_short,
        changed,
        twice,
        a_copy,
        of_another_checkpoint,
        of_other_photos,
        of_another_division,
        one_too_many,
        no_blocks,
    ],
)
def test_what_is_wrong_is_one_sentence(made, out, spoil, is_one_sentence):
    merge(out)
    reason = spoil(made, out)
    with pytest.raises(UserError, match=re.escape(reason)) as caught:
        merge(out)
    assert is_one_sentence(caught)


def test_a_full_disk_is_one_sentence_and_leaves_nothing_that_looks_complete(out, monkeypatch):
    merge(out)

    def full(*args, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array_header_1_0", full)
    with pytest.raises(UserError, match=re.escape(f"{out} cannot be written (No space")):
        merge(out)
    assert not (out / "embeddings.json").exists()
    assert not list(out.rglob("*.tmp"))


def test_without_a_readable_photo_there_is_nothing_to_merge(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(b"no photo")
    embed(SHIPPED / "gru", tmp_path / "photos", tmp_path / "out", shards=1)
    with pytest.raises(UserError, match="none of the photos could be read"):
        merge(tmp_path / "out")
