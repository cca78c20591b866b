"""CLIP_benchmark's data sets for retrieval: tar files, unpacked once and only into their folder."""

import io
import shutil
import tarfile

import pytest
from PIL import Image

from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.data import datasets
from vsdemo.evaluation.evaluate import evaluate

COLOURS = ("red", "green", "blue")


def picture(colour: str, kind: str = "JPEG") -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (60, 40), colour).save(buffer, kind)
    return buffer.getvalue()


def write_tar(path, members) -> None:
    """Write members: (name, content), or a `TarInfo`."""
    with tarfile.open(path, "w") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                name, content = member
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))


def write_split(folder, *shards) -> None:
    folder.mkdir(parents=True)
    (folder / "nshards.txt").write_text(f"{len(shards)}\n")
    for number, members in enumerate(shards):
        write_tar(folder / f"{number}.tar", members)


def pair(number: int, colour: str, *captions: str, suffix: str = "jpg", kind: str = "JPEG"):
    key = f"s{number:07}"
    return [
        (f"{key}.{suffix}", picture(colour, kind)),
        (f"{key}.txt", "\n".join(captions).encode()),
    ]


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path):
    """Three photos in two shards of the test split."""
    root = tmp_path / "wds_colours"
    first = [*pair(0, "red", "A red photo.", "Ünd rot."), *pair(1, "green", "A green photo.")]
    second = pair(2, "blue", "A blue photo.", "", "  Blue. ", suffix="webp", kind="WEBP")
    write_split(root / "test", first, second)
    (root / "dataset_type.txt").write_text("retrieval\n")
    return root


def test_photos_and_captions_of_all_shards_are_read_in_order(folder):
    data = datasets.load(str(folder), "test")
    assert data.captions == (
        "A red photo.", "Ünd rot.", "A green photo.", "A blue photo.", "Blue.",
    )  # fmt: skip
    assert data.photo_of == (0, 0, 1, 2, 2)
    assert [p.suffix for p in data.photos] == [".jpg", ".jpg", ".webp"]
    for photo, channel in zip(data.photos, range(3), strict=True):
        pixel = open_photo(photo).getpixel((5, 5))
        assert max(range(3), key=pixel.__getitem__) == channel
    assert datasets.load(data.name, "test") == data


def test_it_is_unpacked_once_and_below_the_cache_folder(folder, own_home, monkeypatch):
    photos = datasets.load(folder, "test").photos
    assert all(photo.is_relative_to(own_home) for photo in photos)
    monkeypatch.setattr(tarfile, "open", lambda *_: pytest.fail("unpacked again"))
    moved = folder.rename(folder.with_name("moved"))
    assert datasets.load(moved, "test").photos == photos


def test_another_content_is_unpacked_again(folder):
    before = datasets.load(folder, "test")
    write_tar(folder / "test" / "1.tar", pair(2, "yellow", "A yellow photo."))
    after = datasets.load(folder, "test")
    assert after.captions[-1] == "A yellow photo."
    assert set(after.photos).isdisjoint(before.photos)


def test_splits(folder):
    write_split(folder / "train", pair(0, "white", "A white photo.", "White."))
    write_split(folder / "valid", pair(0, "black", "A black photo."))
    assert datasets.load(folder, "train").captions == ("A white photo.", "White.")
    assert datasets.load(folder, "dev").captions == ("A black photo.",)
    whole = datasets.load(folder, "all")
    assert whole.captions[:3] == ("A white photo.", "White.", "A black photo.")
    assert whole.photo_of == (0, 0, 1, 2, 2, 3, 4, 4)
    assert len(set(whole.photos)) == 5


def test_a_missing_split_is_a_user_error(folder):
    with pytest.raises(UserError, match="has no split 'train'"):
        datasets.load(folder, "train")


def test_a_checkpoint_is_measured_on_it(folder, toy_checkpoint):
    metrics = evaluate(str(toy_checkpoint), "test", folder)
    assert (metrics["n_images"], metrics["n_captions"]) == (3, 5)


def link(name: str, kind: bytes, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize(
    "key", ["../../evil", "/tmp/evil", "a/../../../evil", "..\\..\\evil", "C:\\evil", ".evil"]
)
def test_nothing_is_written_outside_the_folder(folder, tmp_path, own_home, key):
    members = [(f"{key}.jpg", picture("red")), (f"{key}.txt", b"An evil photo.")]
    write_tar(folder / "test" / "0.tar", members)
    before = {p for p in tmp_path.rglob("*") if not p.is_relative_to(own_home)}
    data = datasets.load(folder, "test")
    assert data.captions[0] == "An evil photo."
    assert {p for p in tmp_path.rglob("*") if not p.is_relative_to(own_home)} == before
    (unpacked,) = {photo.parent for photo in data.photos}
    assert {p.name for p in unpacked.iterdir()} == {
        "0000000.jpg", "0000001.webp", "captions.json",
    }  # fmt: skip


def test_links_and_folders_are_left_out(folder, tmp_path):
    (tmp_path / "secret.jpg").write_bytes(picture("black"))
    directory = tarfile.TarInfo("photos.jpg")
    directory.type = tarfile.DIRTYPE
    members = [
        link("l.jpg", tarfile.SYMTYPE, str(tmp_path / "secret.jpg")),
        link("h.jpg", tarfile.LNKTYPE, "../secret.jpg"),
        link("pipe.jpg", tarfile.FIFOTYPE, ""),
        directory,
        ("s0.json", b"{}"),
        *pair(0, "red", "A red photo."),
    ]
    write_tar(folder / "test" / "0.tar", members)
    assert len(datasets.load(folder, "test").photos) == 2


def damage_half(tar):
    tar.write_bytes(tar.read_bytes()[: tar.stat().st_size // 3])


DAMAGES = {
    "text": (lambda tar: tar.write_bytes(b"no tar file\n" * 100), "0.tar is damaged"),
    "cut off": (damage_half, r"0.tar is damaged|lacks its photo or its captions"),
    "missing": (lambda tar: tar.unlink(), r"0.tar is missing; download it"),
    "no captions": (lambda tar: write_tar(tar, [("s0.jpg", picture("red")), ("s0.cls", b"3")]),
        r"'s0' in .*0\.tar lacks its photo or its captions"),
    "no photo": (lambda tar: write_tar(tar, [("s0.txt", b"A dog.")]), "'s0' in .* lacks its photo"),
    "two photos": (lambda tar: write_tar(tar, [*pair(0, "red", "Red."), ("s0000000.png", b"")]),
        "damaged \\(there are two photos 's0000000'"),
    "other letters": (lambda tar: write_tar(tar, [("s0.jpg", b""), ("s0.txt", b"\xff\xfe\xff")]),
        "0.tar is damaged"),
    "no number": (lambda tar: (tar.parent / "nshards.txt").write_text("two"),
        "nshards.txt must be the number of tar files, not 'two'"),
    "too many": (lambda tar: (tar.parent / "nshards.txt").write_text("3"), "2.tar is missing"),
    "classification": (
        lambda tar: (tar.parent.parent / "dataset_type.txt").write_text("classification"),
        "is a data set for classification"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_a_user_error_and_leaves_nothing_behind(folder, own_home, damage):
    harm, problem = DAMAGES[damage]
    harm(folder / "test" / "0.tar")
    with pytest.raises(UserError, match=problem) as caught:
        datasets.load(folder, "test")
    assert "\n" not in str(caught.value)
    assert list(own_home.rglob("*.jpg")) == []
    assert list((own_home / "webdataset").glob("*")) == []


def test_a_full_disk_is_a_user_error(folder, own_home, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", refuse)
    with pytest.raises(UserError, match=r"cannot be unpacked .*\(No space left on device\); make"):
        datasets.load(folder, "test")
    monkeypatch.undo()
    monkeypatch.setenv("VSDEMO_HOME", str(own_home))
    assert len(datasets.load(folder, "test").photos) == 3
