import sys
from pathlib import Path

import pytest

from vsdemo.core import paths
from vsdemo.core.errors import UserError


def test_data_root_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    assert paths.data_root() == tmp_path
    monkeypatch.setenv("VSDEMO_DATA", "")
    assert paths.data_root() is None
    monkeypatch.delenv("VSDEMO_DATA")
    assert paths.data_root() is None


def test_require_data_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    with pytest.raises(UserError, match=r"Flickr8k is missing.*flickr8k"):
        paths.require_data("flickr8k", what="Flickr8k")
    (tmp_path / "flickr8k").mkdir()
    assert paths.require_data("flickr8k", what="Flickr8k") == tmp_path / "flickr8k"
    monkeypatch.delenv("VSDEMO_DATA")
    with pytest.raises(UserError, match="needs VSDEMO_DATA"):
        paths.require_data("flickr8k", what="Flickr8k")


@pytest.mark.parametrize(
    ("platform", "variable"), [("linux", "XDG_CACHE_HOME"), ("win32", "LOCALAPPDATA")]
)
def test_home_is_the_platforms_cache_folder(monkeypatch, tmp_path, platform, variable):
    monkeypatch.delenv("VSDEMO_HOME")
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert paths.home() == tmp_path / "vsdemo"


def test_home_on_a_mac(monkeypatch, tmp_path):
    monkeypatch.delenv("VSDEMO_HOME")
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert paths.home() == tmp_path / "Library" / "Caches" / "vsdemo"


def test_tests_have_a_home_of_their_own(tmp_path_factory):
    assert paths.home().is_relative_to(tmp_path_factory.getbasetemp())
    assert paths.data_root().is_relative_to(tmp_path_factory.getbasetemp())


def test_write_text_makes_folders_and_leaves_no_temporary_file(tmp_path):
    paths.write_text(tmp_path / "a" / "b.txt", "älter")
    paths.write_text(tmp_path / "a" / "b.txt", "ä")
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["b.txt"]
    assert (tmp_path / "a" / "b.txt").read_bytes() == "ä".encode()


def test_a_crash_while_writing_keeps_the_old_file(tmp_path):
    file = tmp_path / "config.json"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError), paths.atomic(file) as temporary:
        temporary.write_text("half of the n\ud800")
    assert [p.name for p in tmp_path.iterdir()] == ["config.json"]
    assert file.read_text() == "old"
