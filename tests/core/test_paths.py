from pathlib import Path

import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows

from vsdemo.core import paths
from vsdemo.core.errors import UserError


def test_data_root_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    assert paths.data_root() == tmp_path
    monkeypatch.setenv("VSDEMO_DATA", "")
    assert paths.data_root() is None
    monkeypatch.delenv("VSDEMO_DATA")
    assert paths.data_root() is None


def test_require_data_names_missing_data(monkeypatch, tmp_path):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    with pytest.raises(UserError, match=r"Flickr8k is missing.*flickr8k"):
        paths.require_data("flickr8k", what="Flickr8k")
    (tmp_path / "flickr8k").mkdir()
    assert paths.require_data("flickr8k", what="Flickr8k") == tmp_path / "flickr8k"
    monkeypatch.delenv("VSDEMO_DATA")
    with pytest.raises(UserError, match="needs VSDEMO_DATA"):
        paths.require_data("flickr8k", what="Flickr8k")


def test_home_follows_xdg_cache_home(monkeypatch, tmp_path):
    monkeypatch.delenv("VSDEMO_HOME")
    monkeypatch.setattr("platformdirs.PlatformDirs", Unix)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert paths.home() == tmp_path / "vsdemo"


def test_home_on_windows_is_in_local_app_data(monkeypatch, tmp_path):
    monkeypatch.delenv("VSDEMO_HOME")
    monkeypatch.setattr("platformdirs.PlatformDirs", Windows)
    folders = {"CSIDL_LOCAL_APPDATA": str(tmp_path)}
    monkeypatch.setattr("platformdirs.windows.get_win_folder", folders.__getitem__)
    assert paths.home() == tmp_path / "vsdemo"


@pytest.mark.parametrize(("platform", "folder"), [(MacOS, "Library/Caches"), (Unix, ".cache")])
def test_home_without_environment_variables(monkeypatch, tmp_path, platform, folder):
    monkeypatch.delenv("VSDEMO_HOME")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("platformdirs.PlatformDirs", platform)
    assert paths.home() == tmp_path / folder / "vsdemo"


def test_tests_use_temporary_folders(tmp_path_factory):
    assert paths.home().is_relative_to(tmp_path_factory.getbasetemp())
    assert paths.data_root().is_relative_to(tmp_path_factory.getbasetemp())


def test_messages_for_visitors_do_not_name_the_folders_of_the_server(monkeypatch, tmp_path):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "home" / "data"))
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path / "models"))
    files = (tmp_path / "home" / "a.json", tmp_path / "home" / "data" / "b.txt")
    message = f"{files[0]}, {files[1]} and {tmp_path / 'models' / 'toy' / 'gru'} are damaged."
    short = "VSDEMO_HOME/a.json, VSDEMO_DATA/b.txt and checkpoints/toy/gru are damaged."
    assert paths.shorten_paths(message) == short
    assert paths.shorten_paths(f"{paths.ROOT / 'app.py'} is missing.") == "app.py is missing."


def test_write_text_creates_folders_and_leaves_no_temporary_file(tmp_path):
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


@pytest.mark.parametrize("parent", ["/proc", "/dev/null"])
def test_a_cache_folder_that_cannot_be_made_is_a_user_error(monkeypatch, parent):
    monkeypatch.setenv("VSDEMO_HOME", f"{parent}/vsdemo")
    with pytest.raises(UserError, match="set VSDEMO_HOME to a folder that you can write to"):
        paths.prepare_home()


def test_a_cache_folder_that_cannot_be_written_is_a_user_error(monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    monkeypatch.setattr(paths, "TemporaryFile", refuse)
    with pytest.raises(UserError, match=r"cannot be written \(Permission denied\)"):
        paths.prepare_home()


def test_a_path_may_be_text_and_begin_at_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths.to_path("~/runs") == tmp_path / "runs"
    assert paths.to_path("runs") == paths.to_path(Path("runs")) == Path("runs")


@pytest.mark.parametrize("path", [None, 3, b"runs", ["runs"], "~nobody-of-this-name/x"])
def test_what_is_no_path_is_a_user_error(path):
    with pytest.raises(UserError, match="is not a path; give a string or a Path"):
        paths.to_path(path)
