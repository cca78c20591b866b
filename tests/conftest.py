"""A toy data set of coloured shapes, a model trained on it, and folders of the tests' own.

Every test sees VSDEMO_DATA = `toy_root` and a VSDEMO_HOME that is deleted afterwards; a test that
uses `real_data` sees the VSDEMO_DATA that pytest was started with.
"""

import gc
import json
import os
import shutil
import sys
import tempfile
from itertools import product
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"  # read when torch imports Triton

import hypothesis
import pytest
import torch
import torchvision
from PIL import Image, ImageDraw
from playwright.sync_api import sync_playwright
from psutil import virtual_memory
from safetensors.torch import save_file

from tests.support import (
    fake_trainer,
    fake_web,
    small_orders,
    small_pairs,
    small_runs,
    storybook_sample,
)
from tests.support.fake_parser import FakeParser
from vsdemo.cli import main
from vsdemo.data import storybook
from vsdemo.data.downloads import download, fetch
from vsdemo.data.text import parser
from vsdemo.evaluation import cards
from vsdemo.training.jobs import jobs

NO_BROWSER = "there is no chromium on the PATH"
# The first one is the same engine without windows, which tests a third faster.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
NO_DATA = "VSDEMO_DATA is not set"
REAL_DATA = Path(os.environ["VSDEMO_DATA"]).resolve() if os.environ.get("VSDEMO_DATA") else None
HERE = Path(__file__).parent
SLOW = (
    "pages",
    "test_shipped",
    "storybook",
    "ui",
    "training",
    "recipes",
    "hierarchy",
    "vision",
)  # in order
BACKBONE = "torchvision/mobilenet_v3_small"
TOY_SETTINGS = [
    f"backbone={BACKBONE}",
    "crops=center",
    "dim=32",
    "word_dim=16",
    "batch_size=8",
    "min_count=1",
    "epochs=8",
    "learning_rate=0.01",
    "dropout=0",
]
TEMPLATES = (
    "a {0} {1} on a {2} ground",
    "The {1} is {0}, the ground is {2}.",
    "one {0} {1}",
    "{2} ground behind a {0} {1}",
    "there is a {1} here; it is {0}",
)
SHAPES, COLOURS = ("circle", "square", "triangle", "bar"), ("red", "green", "blue", "yellow")

hypothesis.settings.register_profile("vsdemo", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.load_profile("vsdemo")
torch.set_num_threads(1)  # toy tensors: threads only wait for each other

# Tests write some 60,000 files: in memory, where there is enough, as many disks are slow with them.
MEMORY, NEEDED = Path("/dev/shm"), 8e9  # bytes
if MEMORY.is_dir() and min(shutil.disk_usage(MEMORY).free, virtual_memory().available) > NEEDED:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in this hook too
def pytest_collection_modifyitems(items):
    """Let the processes share the tests file by file, those that take minutes first.

    The pages of the toy app stay in two processes, each of which starts that app once.
    """
    pages = sorted({item.path for item in items if "apps" in item.fixturenames})
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            group = str(item.path.relative_to(HERE))
            if "apps" in item.fixturenames:
                group = f"pages {pages.index(item.path) % 2}"
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: _rank(item.get_closest_marker("xdist_group").args[0]))


def pytest_collection_finish():
    """Keep the modules out of garbage collections, which would look at all their objects."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    """Let libraries free their objects in the usual way."""
    gc.unfreeze()


def _rank(group: str) -> int:
    """Return where a group of tests stands in the order; short ones at the end fill the gaps."""
    return next((i for i, start in enumerate(SLOW) if group.startswith(start)), len(SLOW))


def draw(shape: str, colour: str, ground: str) -> Image.Image:
    """Draw a photo of 96 x 72 pixels."""
    photo = Image.new("RGB", (96, 72), ground)
    pen = ImageDraw.Draw(photo)
    match shape:
        case "circle":
            pen.ellipse((26, 14, 70, 58), colour)
        case "square":
            pen.rectangle((26, 14, 70, 58), colour)
        case "triangle":
            pen.polygon([(48, 10), (76, 60), (20, 60)], colour)
        case "bar":
            pen.rectangle((8, 28, 88, 44), colour)
    return photo


def write_toy(folder: Path) -> None:
    """Write 24 train, 8 dev and 8 test photos with five captions each, in the Karpathy format."""
    (folder / "images").mkdir(parents=True)
    scenes = [s for s in product(SHAPES, COLOURS, COLOURS) if s[1] != s[2]]  # 48, none twice
    splits = ["train"] * 24 + ["val"] * 8 + ["test"] * 8
    images = []
    for number, split in enumerate(splits):
        shape, colour, ground = scenes[number * 7 % len(scenes)]
        name = f"{number:02}_{colour}_{shape}_{ground}.png"
        draw(shape, colour, ground).save(folder / "images" / name)
        sentences = [{"raw": t.format(colour, shape, ground)} for t in TEMPLATES]
        images.append({"filename": name, "split": split, "sentences": sentences})
    (folder / "captions.json").write_text(json.dumps({"images": images}))


def write_backbone(path: Path) -> None:
    """Write mobilenet_v3_small with seeded random weights, so tests download nothing."""
    path.parent.mkdir(parents=True)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = torchvision.models.mobilenet_v3_small(weights=None)
    save_file({k: t.contiguous() for k, t in net.state_dict().items()}, path)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run `python -m vsdemo ...`, and return the exit code, stdout and stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["vsdemo", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return end.value.code or 0, printed.out, printed.err

    return run


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    """Set VSDEMO_HOME to a temporary folder; at the end, kill the run that is still training."""
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    yield tmp_path / "home"
    if run := jobs.current():
        fake_trainer.kill(run)


@pytest.fixture
def fake_training(own_home, tmp_path, monkeypatch):
    """Let a fake trainer execute the runs, in a temporary VSDEMO_HOME."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", fake_trainer.program(tmp_path / "programs"))
        yield own_home


@pytest.fixture
def pairs_root(tmp_path, monkeypatch):
    """Set VSDEMO_DATA to a folder of sentence pairs without photos; use few resamples."""
    small_pairs.write_all(tmp_path)
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    monkeypatch.setattr("vsdemo.evaluation.metrics.bootstrap.RESAMPLES", 200)
    return tmp_path


@pytest.fixture(scope="session")
def toy_root(tmp_path_factory):
    """Return a VSDEMO_DATA with the data set `toy` and random weights for BACKBONE."""
    root = tmp_path_factory.mktemp("data")
    write_toy(root / "toy")
    write_backbone(root / "models" / "mobilenet_v3_small_random.safetensors")
    return root


@pytest.fixture(scope="session", autouse=True)
def own_folders(toy_root, tmp_path_factory):
    """Keep every test away from the user's data and caches."""
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_DATA", str(toy_root))
        patch.setenv("VSDEMO_HOME", str(cache / "home"))
        patch.setenv("XDG_CACHE_HOME", str(cache / "xdg"))
        patch.setenv("TORCH_HOME", str(cache / "torch"))
        patch.setenv("HF_HOME", str(cache / "hf"))
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("VSDEMO_OPEN_BROWSER", "0")  # the app does not open on the desktop
        yield


@pytest.fixture
def real_data(monkeypatch):
    """Use the real data sets; skip the test if they are missing, but fail in CI."""
    if not REAL_DATA:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(NO_DATA)
    monkeypatch.setenv("VSDEMO_DATA", str(REAL_DATA))
    return REAL_DATA


@pytest.fixture
def web(monkeypatch):
    """Start a local web server, and retry downloads without waiting."""
    monkeypatch.setattr(download, "PAUSES", (0, 0, 0))
    with fake_web.serving() as server:
        yield server


@pytest.fixture
def no_data(web, tmp_path, monkeypatch):
    """Set VSDEMO_DATA to an empty folder; the local server has a small Flickr8k."""
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    monkeypatch.setitem(fetch.DOWNLOADS, "flickr8k", fake_web.small_download(web.url, web.files))
    return tmp_path / "data"


@pytest.fixture
def fake_parser(monkeypatch):
    """Replace the shipped parser by a fast one."""
    fake = FakeParser()
    monkeypatch.setattr(parser, "load", lambda name="shipped": fake)
    return fake


@pytest.fixture
def small_storybook(monkeypatch):
    """Replace the scenes of Storybook by a few that are not drawn."""
    monkeypatch.setattr(storybook, "scenes", storybook_sample.scenes)
    monkeypatch.setattr(storybook, "load", storybook_sample.load)
    storybook_sample.clear_caches()
    yield storybook_sample
    storybook_sample.clear_caches()


@pytest.fixture(scope="session")
def browser():
    """Start chromium; skip the page tests if it is missing, but fail in CI."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(NO_BROWSER)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def pytest_terminal_summary(terminalreporter):
    """Report in a line each what was left out, and why."""
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    for what, reason in (("pages", NO_BROWSER), ("real data sets", NO_DATA)):
        if count := sum(reason in why for why in skipped):
            terminalreporter.write_line(f"{count} tests of {what} skipped: {reason}.")


@pytest.fixture(scope="session")
def toy_checkpoint(own_folders, tmp_path_factory):
    """Return `gru`, trained and evaluated on `toy`; tests that change it use a copy."""
    folder = tmp_path_factory.mktemp("runs") / "gru"
    small_runs.preset_trainer(folder, "gru", *TOY_SETTINGS).run()
    cards.finish(folder)
    return folder


@pytest.fixture(scope="session")
def toy_order(own_folders, tmp_path_factory):
    """Return `order` after one epoch on `toy`, with the words of five concepts."""
    return small_orders.write_order(tmp_path_factory.mktemp("orders") / "order")


@pytest.fixture(scope="session")
def toy_concepts(own_folders, tmp_path_factory):
    """Return a model with embeddings in perfect order for all concepts of `toy`."""
    return small_orders.write_concepts(tmp_path_factory.mktemp("orders") / "concepts")


@pytest.fixture
def is_one_sentence():
    """Whether an error message is one sentence on one line."""
    return lambda caught: str(caught.value).endswith(".") and "\n" not in str(caught.value)
