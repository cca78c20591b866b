"""The app on ZeroGPU: the library `spaces` is the real one, the service and the GPU stand-ins."""

import shutil
import time

import pytest
from safetensors.torch import load_file

from tests.support import spaces, stand_in_gpu
from vsdemo.vision.features import FeatureCache

# app.py as it is, where each photo after the first four is worth borrowing a GPU.
APP = """
import runpy
from tests.support import stand_in_gpu
stand_in_gpu.install()
from vsdemo.vision import features
features.FIRST_SHARD, features.WORTH_LENDING = 4, 0
runpy.run_path("app.py", run_name="__main__")
"""
PHOTOS = 12
SECONDS = 60


@pytest.fixture
def gallery(toy_root, tmp_path):
    """A folder with a few photos of a visitor."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for photo in sorted((toy_root / "toy" / "images").iterdir())[:PHOTOS]:
        shutil.copy(photo, folder)
    return folder


@pytest.fixture
def checkpoints(toy_checkpoint, tmp_path):
    shutil.copytree(toy_checkpoint, tmp_path / "checkpoints" / "toy" / "gru")
    return tmp_path / "checkpoints"


def cached_features(home):
    """Return the features of photos that an app has stored, as many as there are."""
    files = sorted(home.glob("features/*/*/*.safetensors"))
    return sum(len(load_file(file)["features"]) for file in files)


@pytest.mark.parametrize("refuses", [False, pytest.param(True, marks=pytest.mark.long)])
def test_photos_are_encoded_on_the_lent_gpu_and_nothing_else(
    gallery, checkpoints, toy_root, tmp_path, monkeypatch, refuses
):
    with stand_in_gpu.lending() as (lender, variables):
        lender.refuses = refuses
        with spaces.running(
            tmp_path,
            APP,
            **variables,
            SPACE_ID="someone/vsdemo",
            VSDEMO_DATA=str(toy_root),
            VSDEMO_CHECKPOINTS=str(checkpoints),
            VSDEMO_GALLERY=str(gallery),
        ) as space:
            space.wait()
            while cached_features(tmp_path / "home") < PHOTOS:
                assert time.monotonic() - space.started < SECONDS, space.log
                time.sleep(0.1)
        log = space.log
    assert space.other_hosts == []
    assert "Traceback" not in log
    assert "Low-level CUDA init" not in log  # what `spaces` says of CUDA outside of a call
    assert lender.requests[0][0] == "/startup-report"
    assert lender.count("/schedule") > 0
    if refuses:
        assert "The GPU was not lent (No GPU was available); computing on the CPU." in log
    else:
        assert set(lender.processes()).isdisjoint({space.pid})
        assert lender.processes()
        assert lender.count("/release") == lender.count("/schedule")
    # The features are those that a machine without ZeroGPU computes.
    photos = sorted(gallery.iterdir())
    monkeypatch.setenv("VSDEMO_DATA", str(toy_root))
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    lent = FeatureCache("torchvision/mobilenet_v3_small").get(photos)
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "other"))
    here = FeatureCache("torchvision/mobilenet_v3_small").get(photos)
    assert (lent - here).abs().max() < 0.01
