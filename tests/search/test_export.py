"""Files of embeddings: what they hold, and that a search in them finds what vsdemo finds."""

import errno
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from pyarrow import parquet

from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.models import checkpoint
from vsdemo.search import export
from vsdemo.search.engine import Engine

FRAGMENTS = ROOT / "checkpoints" / "storybook" / "fragments"


@pytest.fixture(scope="module")
def engine(toy_checkpoint):
    return Engine(toy_checkpoint, split="test")


def read_parquet(path: Path) -> tuple[pd.DataFrame, dict]:
    return pd.read_parquet(path), json.loads(parquet.read_schema(path).metadata[b"vsdemo"])


def read_npy(path: Path) -> tuple[pd.DataFrame, dict]:
    about = json.loads(Path(f"{path}.json").read_text(encoding="utf-8"))
    rows = pd.DataFrame(about.pop("rows"))
    return rows.assign(embedding=list(np.load(path))), about


READERS = {"emb.parquet": read_parquet, "emb.npy": read_npy}


@pytest.mark.parametrize("name", READERS)
def test_a_search_in_the_file_finds_what_the_engine_finds(engine, tmp_path, name):
    export.write(engine, tmp_path / name)
    table, _ = READERS[name](tmp_path / name)
    photos, captions = table[table.kind == "photo"], table[table.kind == "caption"]
    vectors = np.stack(photos.embedding)
    for query in captions.iloc[[0, 7, 21]].itertuples():
        scores = vectors @ query.embedding
        hits = engine.search(query.text)
        assert photos.photo.iloc[np.argsort(-scores)].tolist() == [hit.item for hit in hits]
        np.testing.assert_allclose(np.sort(scores)[::-1], [hit.score for hit in hits], atol=1e-5)


@pytest.mark.parametrize("name", READERS)
def test_rows_are_the_photos_and_then_their_captions(engine, tmp_path, name, monkeypatch):
    monkeypatch.setattr(export, "BLOCK", 7)  # several blocks of photos and of captions
    export.write(engine, tmp_path / name)
    table, _ = READERS[name](tmp_path / name)
    gallery = engine.gallery
    assert table.kind.tolist() == ["photo"] * 8 + ["caption"] * 40
    assert table.photo.tolist()[:8] == [photo.name for photo in gallery.photos]
    assert table.number.isna().tolist() == table.text.isna().tolist() == [True] * 8 + [False] * 40
    assert table.text.tolist()[8:] == list(gallery.captions)
    for photo in (0, 5):
        own = table[(table.photo == gallery.photos[photo].name) & (table.kind == "caption")]
        assert own.number.tolist() == [0, 1, 2, 3, 4]
        assert own.text.tolist() == gallery.own_captions(photo)


@pytest.mark.parametrize("name", READERS)
def test_the_file_says_what_it_is_of(engine, toy_checkpoint, tmp_path, name):
    about = export.write(engine, tmp_path / name)
    assert READERS[name](tmp_path / name)[1] == about
    assert about["checkpoint"] == "/".join(toy_checkpoint.parts[-2:])
    assert about["content_hash"] == checkpoint.content_hash(toy_checkpoint)
    assert about["score"] == "cosine"
    assert (about["gallery"], about["split"]) == ("toy", "test")
    assert (about["photos"], about["captions"]) == (8, 40)
    assert (about["dim"], about["type"]) == (32, "float32")


@pytest.mark.parametrize("name", READERS)
def test_half_precision_keeps_three_digits(engine, tmp_path, name):
    (tmp_path / "half").mkdir()
    about = export.write(engine, tmp_path / "half" / name, half=True)
    export.write(engine, tmp_path / name)
    half, full = (
        np.stack(READERS[name](p / name)[0].embedding) for p in (tmp_path / "half", tmp_path)
    )
    assert (half.dtype, full.dtype, about["type"]) == (np.float16, np.float32, "float16")
    np.testing.assert_allclose(half.astype(np.float32), full, atol=5e-4)


def test_a_folder_of_photos_has_paths_and_no_captions(toy_checkpoint, toy_root, tmp_path):
    photos = sorted((toy_root / "toy" / "images").iterdir())[:3]
    for photo, name in zip(photos, ("a.png", "b/a.png", "c é.png"), strict=True):
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(photo, tmp_path / "mine" / name)
    engine = Engine(toy_checkpoint, str(tmp_path / "mine"))
    about = export.write(engine, tmp_path / "emb.npy")
    table, _ = read_npy(tmp_path / "emb.npy")
    assert table.photo.tolist() == ["a.png", "b/a.png", "c é.png"]
    assert set(table.kind) == {"photo"}
    assert (about["gallery"], about["captions"]) == ("mine", 0)


def test_a_name_that_is_not_utf_8_is_written(toy_checkpoint, toy_root, tmp_path):
    photo = next((toy_root / "toy" / "images").iterdir())
    (tmp_path / "mine").mkdir()
    shutil.copy(photo, tmp_path / "mine" / "caf\udce9.png")  # Latin-1
    engine = Engine(toy_checkpoint, str(tmp_path / "mine"))
    for name, read in READERS.items():
        export.write(engine, tmp_path / name)
        assert read(tmp_path / name)[0].photo.tolist() == ["caf?.png"]


@pytest.fixture
def few(toy_root, tmp_path):
    """A captions.json of two photos."""
    images = []
    for photo in sorted((toy_root / "toy" / "images").iterdir())[:2]:
        shutil.copy(photo, tmp_path)
        sentences = [{"raw": "a dog"}, {"raw": "a dog runs after a red ball"}]
        images.append({"filename": photo.name, "split": "test", "sentences": sentences})
    (tmp_path / "captions.json").write_text(json.dumps({"images": images}))
    return tmp_path / "captions.json"


def test_a_model_of_fragments_has_a_list_of_vectors(few, tmp_path, fake_parser):
    engine = Engine(FRAGMENTS, str(few))
    export.write(engine, tmp_path / "emb.parquet")
    table, about = read_parquet(tmp_path / "emb.parquet")
    sets = [torch.from_numpy(np.stack(vectors)) for vectors in table.embedding]
    photos = engine.photos.embeddings
    for row in range(2):
        torch.testing.assert_close(sets[row], photos.x[row][photos.mask[row]])
    for row, text in enumerate(engine.gallery.captions, 2):
        torch.testing.assert_close(sets[row], engine.encode(text).x[0])
    assert len(sets[2]) < len(sets[3])
    assert about["score"] == "alignment"


def test_a_matrix_cannot_hold_fragments(few, tmp_path):
    score = checkpoint.load(FRAGMENTS)[0].score
    with pytest.raises(UserError, match=re.escape("a .npy file cannot hold; use .parquet")):
        export.check(tmp_path / "emb.npy", score)
    export.check(tmp_path / "emb.parquet", score)


@pytest.mark.parametrize("name", ["emb.csv", "emb", "emb.npz", ".npy"])
def test_an_unknown_ending_is_refused(engine, tmp_path, name):
    with pytest.raises(UserError, match=r"use \.parquet or \.npy"):
        export.write(engine, tmp_path / name)


@pytest.mark.parametrize("name", READERS)
def test_an_older_file_is_kept_if_the_disk_is_full(engine, tmp_path, name, monkeypatch):
    export.write(engine, tmp_path / name)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}

    def full(self, *args, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(parquet.ParquetWriter, "write_batch", full)
    monkeypatch.setattr(Path, "write_bytes", full)
    message = re.escape(f"{name} cannot be written (No space left on device).")
    with pytest.raises(UserError, match=message):
        export.write(engine, tmp_path / name)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_progress_counts_captions(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "BLOCK", 16)
    seen = []
    export.write(engine, tmp_path / "emb.npy", progress=lambda *count: seen.append(count))
    assert seen == [(16, 40), (32, 40), (40, 40)]
