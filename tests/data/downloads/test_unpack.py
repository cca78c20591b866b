"""Archives and weights are unpacked completely or not at all, and only into their folder."""

import hashlib
import io
import re
import stat
from functools import partial
from threading import Event
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest
import torch
from safetensors.torch import load_file

from tests.support.fake_web import zipped
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data.downloads import fetch, unpack
from vsdemo.vision.backbones import find_weights

SIZE = 1_000_000  # bytes that a file may unpack to, or more
PHOTOS = {f"Flicker8k_Dataset/{n}.jpg": n.encode() * 1000 for n in "abcd"}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "photos.zip"
    path.write_bytes(zipped(PHOTOS))
    return path


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "flickr8k" / "Flicker8k_Dataset"


def silent(*_):
    pass


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_all_photos_appear_at_once(file, folder):
    reports = []

    def progress(*words):
        assert not folder.exists()
        reports.append(words)

    unpack.unpack_archive(file, folder, progress, Event(), SIZE)
    assert contents(folder) == {f"{n}.jpg": n.encode() * 1000 for n in "abcd"}
    assert reports == [("Unpacking", n, 4000) for n in (1000, 2000, 3000, 4000)]
    assert [p.name for p in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize(
    "name",
    ["../../evil.jpg", "/evil.jpg", "a/../../../evil.jpg", "..\\..\\evil.jpg", "C:\\evil.jpg",
     "C:evil.jpg", "..", ".evil.jpg", "evil.jpg\0.txt", "evil.sh", "__MACOSX/evil.jpg", "evil/"],
)  # fmt: skip
def test_nothing_is_written_outside_the_folder(file, folder, tmp_path, name):
    file.write_bytes(zipped({**PHOTOS, name: b"evil"}))
    unpack.unpack_archive(file, folder, silent, Event(), SIZE)
    files = {p for p in tmp_path.rglob("*") if p.is_file() and p != file}
    assert {p.parent for p in files} == {folder}
    assert {p.name for p in files} - {"evil.jpg"} == {f"{n}.jpg" for n in "abcd"}


def test_a_killed_run_resumes(file, folder):
    half = unpack.partial_folder(folder)
    half.mkdir(parents=True)
    (half / "a.jpg").write_bytes(b"unpacked by the run that was killed")
    (half / ".part").write_bytes(b"an unfinished file")
    unpack.unpack_archive(file, folder, silent, Event(), SIZE)
    files = contents(folder)
    assert files.pop("a.jpg") == b"unpacked by the run that was killed"
    assert files == {f"{n}.jpg": n.encode() * 1000 for n in "bcd"}


def test_a_cancelled_run_resumes(file, folder):
    cancel = Event()
    with pytest.raises(Cancelled):
        unpack.unpack_archive(file, folder, lambda *_: cancel.set(), cancel, SIZE)
    assert file.exists()
    assert not folder.exists()
    unpack.unpack_archive(file, folder, silent, Event(), SIZE)
    assert len(contents(folder)) == 4


@pytest.mark.parametrize("damage", ["no zip", "cut", "a byte", "empty", "no photos"])
def test_a_damaged_archive_is_deleted(file, folder, damage):
    data = file.read_bytes()
    at = data.index(b"bbbb")
    damaged = {
        "no zip": b"<html>Sign in</html>",
        "cut": data[:3000],
        "a byte": data[:at] + b"x" + data[at + 1 :],
        "empty": b"",
        "no photos": zipped({"readme.md": b"none"}),
    }
    file.write_bytes(damaged[damage])
    with pytest.raises(UserError, match=r"photos.zip was damaged and has been deleted; fetch it"):
        unpack.unpack_archive(file, folder, silent, Event(), SIZE)
    assert not file.exists()
    assert list(folder.parent.iterdir()) == []
    file.write_bytes(data)
    unpack.unpack_archive(file, folder, silent, Event(), SIZE)
    assert len(contents(folder)) == 4


def test_weights_are_converted_to_half_precision_and_current_names(tmp_path):
    norm = {"weight": torch.ones(3), "running_mean": torch.full((3,), 1 / 3)}
    old = {f"features.denseblock1.denselayer1.norm.1.{k}": v for k, v in norm.items()}
    old |= {"features.conv0.weight": torch.rand(2, 3), "classifier.weight": torch.rand(4, 4)}
    torch.save(old, tmp_path / "old.pth")
    unpack.convert_weights(
        tmp_path / "old.pth", tmp_path / "new.safetensors", silent, Event(), SIZE
    )
    new = load_file(tmp_path / "new.safetensors")
    layer = "features.denseblock1.denselayer1.norm1."
    names = {f"{layer}{k}" for k in ("weight", "running_mean", "num_batches_tracked")}
    assert set(new) == names | {"features.conv0.weight"}
    assert torch.equal(new[f"{layer}running_mean"], norm["running_mean"].half())
    assert new[f"{layer}num_batches_tracked"] == 0


@pytest.mark.parametrize("data", [b"", b"<html>", b"PK\3\4" + b"\0" * 100])
def test_damaged_weights_are_deleted(tmp_path, data):
    (tmp_path / "net.pth").write_bytes(data)
    with pytest.raises(UserError, match=r"net.pth were damaged \(\w+\) and have been deleted"):
        unpack.convert_weights(
            tmp_path / "net.pth", tmp_path / "net.safetensors", silent, Event(), SIZE
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("real_data")
def test_conversion_reproduces_the_weights_of_the_checkpoints(tmp_path):
    """The input is like torchvision's file: single precision, old names, no batch counts."""
    known = find_weights("torchvision/densenet169")
    old = {
        re.sub(r"(denselayer\d+\.(?:norm|conv))([12])", r"\1.\2", name): tensor.float()
        for name, tensor in load_file(known.path).items()
        if not name.endswith("num_batches_tracked")
    }
    assert "features.denseblock1.denselayer1.norm.1.weight" in old
    torch.save({**old, "classifier.weight": torch.rand(1000, 1664)}, tmp_path / "net.pth")
    unpack.convert_weights(
        tmp_path / "net.pth", tmp_path / "net.safetensors", silent, Event(), 30 * SIZE
    )
    digest = hashlib.sha256((tmp_path / "net.safetensors").read_bytes()).hexdigest()
    assert digest.startswith(known.hash)
    assert digest == fetch.DENSENET169


def test_weights_with_another_checksum_are_deleted(tmp_path):
    torch.save({"features.conv0.weight": torch.ones(2, 3)}, tmp_path / "net.pth")
    convert = partial(unpack.convert_weights, progress=silent, cancel=Event(), size=SIZE)
    with pytest.raises(UserError, match=r"net.pth are not the expected ones and have been deleted"):
        convert(tmp_path / "net.pth", tmp_path / "net.safetensors", sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []


def compressed(members):
    """Return the bytes of a zip in which each member is compressed."""
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_an_archive_that_unpacks_to_more_than_expected_is_deleted(file, folder):
    file.write_bytes(compressed({f"{n}.jpg": bytes(400_000) for n in range(4)}))
    assert file.stat().st_size < 4000
    with pytest.raises(UserError, match=r"photos.zip unpacks to more than the expected 1 MB and"):
        unpack.unpack_archive(file, folder, silent, Event(), SIZE)
    assert [p.name for p in folder.parent.iterdir()] == []
    assert not file.exists()


def test_a_member_that_is_longer_than_it_states_is_cut_and_refused(file, folder):
    data = compressed({"a.jpg": bytes(400_000)})
    file.write_bytes(data.replace((400_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(UserError, match=r"photos.zip was damaged and has been deleted"):
        unpack.unpack_archive(file, folder, silent, Event(), SIZE)
    assert list(folder.parent.iterdir()) == []


def test_links_are_left_out(file, folder):
    link = ZipInfo("link.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with ZipFile(file, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    unpack.unpack_archive(file, folder, silent, Event(), SIZE)
    assert set(contents(folder)) == {f"{n}.jpg" for n in "abcd"}


def test_weights_that_unpack_to_more_than_expected_are_deleted(tmp_path):
    (tmp_path / "net.pth").write_bytes(compressed({"net/data/0": bytes(5_000_000)}))
    with pytest.raises(UserError, match=r"net.pth were damaged \(TooLarge\) and have been deleted"):
        unpack.convert_weights(
            tmp_path / "net.pth", tmp_path / "net.safetensors", silent, Event(), SIZE
        )
    assert list(tmp_path.iterdir()) == []
