"""Weights in torch's cache: downloaded within bounds, and compared with the checksum they name."""

import hashlib
from types import SimpleNamespace

import pytest

from vsdemo.vision.backbones import weights

CONTENT = b"weights" * 10_000
DIGEST = hashlib.sha256(CONTENT).hexdigest()[:8]
MIB = len(CONTENT) / 2**20


@pytest.fixture
def hub(tmp_path, monkeypatch):
    monkeypatch.setattr("torch.hub.get_dir", lambda: str(tmp_path))
    return tmp_path / "checkpoints"


@pytest.fixture
def entry(web):
    """What torchvision says about a file that a local server has."""
    web.files[f"net-{DIGEST}.pth"] = CONTENT
    return SimpleNamespace(url=f"{web.url}/net-{DIGEST}.pth", meta={"_file_size": round(MIB, 3)})


def test_a_file_is_downloaded_once(hub, entry, web):
    path = weights.hub_file(entry)
    assert path.read_bytes() == CONTENT
    assert weights.hub_file(entry) == path
    assert len(web.requests) == 1
    assert list(hub.iterdir()) == [path]


@pytest.mark.parametrize("damaged", [b"", CONTENT[:-1], CONTENT[:-1] + b"x"])
def test_a_damaged_file_is_downloaded_again(hub, entry, damaged):
    weights.hub_file(entry).write_bytes(damaged)
    assert weights.hub_file(entry).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("served", "reason"),
    [(CONTENT[:-1] + b"x", "is not the expected file"), (CONTENT * 2, "larger than the expected")],
)
def test_another_file_is_refused_and_deleted(hub, entry, web, served, reason):
    web.files[f"net-{DIGEST}.pth"] = served
    with pytest.raises(OSError, match=reason):
        weights.hub_file(entry)
    assert list(hub.iterdir()) == []
