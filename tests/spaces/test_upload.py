"""The command that uploads the app to a Space, without uploading anything, and its settings."""

import re
import subprocess

import gradio
import pytest
import yaml

from tests.support import space_upload
from vsdemo.core.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
# Made by users, tests and tools in a checkout; none of it belongs on a Space.
OTHERS = (
    ".venv/lib/site.py",
    ".pytest_cache/README.md",
    ".git/config",
    "runs/mine/model.safetensors",
    "tests/spaces/test_upload.py",
    "vsdemo/core/__pycache__/paths.cpython-312.pyc",
    "checkpoints/storybook/gru/.model.safetensors.12.34.tmp",
    "checkpoints/storybook/mine.work/state.pt",
    "data/flickr8k/photo.jpg",
    "README.md.orig",
)
LARGEST = 10_000_000  # bytes of a file
ALL = 150_000_000  # bytes


@pytest.fixture(scope="module")
def tracked():
    """The files of the repository."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]


@pytest.fixture
def checkout(tracked, tmp_path):
    """A checkout with empty files, and with what users, tests and tools add to it."""
    for name in (*tracked, *OTHERS):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def test_the_upload_is_the_app_and_nothing_else(checkout, tracked):
    uploaded = set(space_upload.uploaded(checkout))
    assert uploaded.isdisjoint(OTHERS)
    parts = {"app.py", "requirements.txt", "README.md", "LICENSE", ".github/search.png"}
    parts |= {name for name in tracked if name.startswith(("vsdemo/", "checkpoints/"))}
    assert uploaded == parts


def test_the_upload_is_within_the_limits(checkout):
    sizes = {name: (ROOT / name).stat().st_size for name in space_upload.uploaded(checkout)}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}
    assert sum(sizes.values()) < ALL


def test_the_settings_of_the_space_are_those_that_were_tested():
    settings = yaml.safe_load(README.split("---\n")[1])
    assert settings["sdk"] == "gradio"
    assert settings["sdk_version"] == gradio.__version__
    assert settings["python_version"] == "3.12.12"  # the newest of ZeroGPU
    assert (ROOT / settings["app_file"]).is_file()
    assert len(settings["short_description"]) <= 60
    assert settings["suggested_hardware"] == "cpu-basic"


def test_the_image_holds_what_a_space_does():
    text = (ROOT / ".docker/Dockerfile").read_text(encoding="utf-8")
    copied = {name for line in re.findall(r"^COPY (.+) \S+$", text, re.M) for name in line.split()}
    assert copied == {"requirements.txt", "LICENSE", "README.md", "app.py", "vsdemo", "checkpoints"}
    ignored = (ROOT / ".docker/Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert {name[1:] for name in ignored if name.startswith("!")} == copied
    assert "USER 1000:1000" in text
