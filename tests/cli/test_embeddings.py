"""`embed-photos` and `merge-embeddings`."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.support.photo_tars import photo_bytes
from vsdemo.core.interrupts import INTERRUPTED
from vsdemo.core.paths import ROOT
from vsdemo.search.photo_embedding import PhotoEmbedder

GRU = ROOT / "checkpoints" / "storybook" / "gru"
FRAGMENTS = GRU.with_name("fragments")


@pytest.fixture
def folder(tmp_path):
    """Four photos and a file that is none."""
    (tmp_path / "photos").mkdir()
    for number, content in enumerate(photo_bytes(4)):
        (tmp_path / "photos" / f"{number}.jpg").write_bytes(content)
    (tmp_path / "photos" / "text.jpg").write_text("no photo")
    return tmp_path / "photos"


def test_shards_are_embedded_and_merged(run, folder, tmp_path):
    out = tmp_path / "out"
    for shard in ("2/2", "1/2"):
        code, printed, errors = run("embed-photos", GRU, folder, "--out", out, "--shard", shard)
        assert (code, errors) == (0, "")
        assert printed.startswith(f"Shard {shard}: 2 photos, ")
        assert not (out / "embeddings.json").exists()
    code, printed, errors = run("merge-embeddings", out)
    assert (code, errors) == (0, "")
    assert printed.splitlines() == ["4 photos, 1 unreadable, 200 x float16", str(out)]
    x = np.load(out / "img_emb" / "img_emb_0.npy", mmap_mode="r")
    assert x.shape == (4, 200)
    table = pd.read_parquet(out / "metadata" / "metadata_0.parquet")
    assert table.image_path.tolist() == ["0.jpg", "1.jpg", "2.jpg", "3.jpg"]
    about = json.loads(run("merge-embeddings", out, "--json")[1])
    assert about == {"folder": str(out)} | json.loads((out / "embeddings.json").read_text())


def test_without_a_shard_all_photos_are_embedded_and_merged(run, folder, tmp_path):
    out = tmp_path / "out"
    code, printed, errors = run("embed-photos", GRU, folder, "--out", out)
    assert (code, errors) == (0, "")
    first, problem = printed.splitlines()
    assert first.startswith("Shard 1/1: 4 photos, 1 unreadable; 4 new in ")
    assert first.endswith(" photos/s)")
    assert problem == "  text.jpg is not a readable photo; use JPEG, PNG or WebP."
    assert np.load(out / "img_emb" / "img_emb_0.npy").shape == (4, 200)
    code, printed, _ = run("embed-photos", GRU, folder, "--out", out, "--json")
    again = json.loads(printed)
    assert (again["photos"], again["new"], list(again["unreadable"])) == (4, 0, ["text.jpg"])


def test_ctrl_c_is_one_sentence(run, folder, tmp_path, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PhotoEmbedder, "embed_shard", interrupt)
        code, printed, errors = run("embed-photos", GRU, folder, "--out", tmp_path / "out")
    assert (code, printed) == (INTERRUPTED, "")
    assert errors == "Stopped; the same command continues after the last complete block.\n"


def test_bad_input_is_one_sentence(run, folder, tmp_path):
    out = ("--out", tmp_path / "out")
    (tmp_path / "file").write_text("no folder")
    for words, reason in (
        (("embed-photos", GRU, folder, *out, "--shard", "0/4"), "'0/4' is not a shard; use 1/16"),
        (("embed-photos", GRU, folder, *out, "--shard", "1/9"), "more shards (9) than photos"),
        (("embed-photos", GRU, tmp_path / "gone", *out), "is neither a folder nor a .tar file"),
        (("embed-photos", tmp_path, folder, *out), "There is no checkpoint at"),
        (("embed-photos", FRAGMENTS, folder, *out), "has several vectors for a photo"),
        (("embed-photos", GRU, folder, "--out", tmp_path / "file"), "cannot be written"),
        (("merge-embeddings", tmp_path / "out"), "There are no embeddings in"),
    ):
        code, printed, errors = run(*words)
        assert (code, printed) == (2, ""), words
        assert reason in errors, errors
        assert errors.count("\n") == 1
        assert errors.startswith("vsdemo: ")
