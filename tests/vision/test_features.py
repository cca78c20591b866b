"""Features on disk: computed once, keyed on content, kept by a killed run."""

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
import torchvision
from PIL import Image
from safetensors import safe_open
from safetensors.torch import save_file
from tqdm import tqdm

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.vision import features, proposals, shards
from vsdemo.vision.features import MAP, PROBE, FeatureCache, UnreadablePhotos, photo_key

BACKBONE = "torchvision/mobilenet_v3_small"
DRIVER = """
import sys
from pathlib import Path
import torch
from vsdemo.vision import features
torch.set_num_threads(1)
features.SHARD, features.BATCH_VIEWS = 4, 2
def progress(done, of):
    print(done, flush=True)
    if done == 10:  # within the third file
        sys.stdin.readline()
photos = sorted(Path(sys.argv[1]).glob("*.png"))
features.FeatureCache(sys.argv[2], "center").get(photos, progress=progress)
"""


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def photos(toy_root):
    return sorted((toy_root / "toy" / "images").glob("*.png"))


@pytest.fixture
def counted(monkeypatch):
    """The photos that were opened, in any order."""
    opened = []
    monkeypatch.setattr(
        features, "open_photo", lambda path: opened.append(path) or open_photo(path)
    )
    return opened


def keys_of(file):
    """Return the keys of the photos in a file."""
    with safe_open(file, "pt") as opened:
        return opened.metadata()["keys"].split()


def start_driver(photos) -> subprocess.Popen:
    """Start a process on the same photos that waits at the tenth of 40."""
    command = [sys.executable, "-c", DRIVER, str(photos[0].parent), BACKBONE]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(command, text=True, **pipes)
    assert [int(next(process.stdout)) for _ in range(8)] == [0, 2, 4, 4, 6, 8, 8, 10]
    return process


def test_rows_follow_the_photos_and_copies_are_computed_once(photos, counted):
    cache = FeatureCache(BACKBONE)
    wanted = [photos[3], photos[0], photos[3], photos[7]]
    vectors = cache.get(wanted)
    assert vectors.shape == (4, 1024)
    assert vectors.dtype == torch.float16
    assert torch.equal(vectors[0], vectors[2])
    assert sorted(counted) == [photos[0], photos[3], photos[7]]
    for row, photo in enumerate(wanted):
        assert torch.equal(vectors[row], cache.get([photo])[0])
    assert len({tuple(row.tolist()) for row in vectors}) == 3
    norms = vectors.float().norm(dim=1)
    torch.testing.assert_close(norms, torch.ones(4), rtol=0, atol=2e-3)  # half precision


def test_second_call_computes_nothing(photos, monkeypatch):
    first = FeatureCache(BACKBONE).get(photos)

    def fail(*args):
        raise AssertionError("the network was loaded again")

    monkeypatch.setattr(features, "load_backbone", fail)
    again = FeatureCache(BACKBONE).get(photos[::-1])
    assert torch.equal(again.flip(0), first)


def test_open_features_are_read_when_they_are_needed(photos, monkeypatch):
    """In any order, some of them twice, from several files."""
    monkeypatch.setattr(features, "SHARD", 4)
    monkeypatch.setattr(features, "FIRST_SHARD", 4)
    cache = FeatureCache(BACKBONE, "center")
    split = CaptionSet("toy", "train", photos=tuple(photos), captions=(), photo_of=())
    expected = cache.get(photos)
    _, opened, _ = cache.open_readable(split)
    rows = torch.tensor([9, 0, 3, 9])
    assert len(opened) == len(photos)
    assert torch.equal(opened[rows], expected[rows])
    assert torch.equal(opened.all(), expected)
    assert len({*opened.content()}) == len(photos)


def test_features_are_keyed_on_content(photos, tmp_path, counted):
    cache = FeatureCache(BACKBONE)
    before = cache.get(photos[:2])
    renamed = shutil.copy(photos[1], tmp_path / "another name.png")
    assert torch.equal(cache.get([renamed])[0], before[1])
    assert len(counted) == 2
    photo = open_photo(photos[1])
    photo.putpixel((50, 40), (9, 9, 9))
    photo.save(renamed)
    assert not torch.equal(cache.get([renamed])[0], before[1])
    assert counted[2:] == [renamed]


def test_features_are_keyed_on_crops(photos, counted):
    rows = [FeatureCache(BACKBONE, crops).get(photos[:1])[0] for crops in ("center", "mirror")]
    assert len(counted) == 2
    assert not torch.equal(*rows)


def test_features_are_keyed_on_weights(photos, tmp_path, monkeypatch, counted):
    before = FeatureCache(BACKBONE).get(photos[:1])
    net = torchvision.models.mobilenet_v3_small(weights=None)
    (tmp_path / "models").mkdir()
    save_file(net.state_dict(), tmp_path / "models" / "mobilenet_v3_small_other.safetensors")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    assert not torch.equal(FeatureCache(BACKBONE).get(photos[:1]), before)
    assert len(counted) == 2


def test_unknown_crops_are_refused():
    with pytest.raises(
        UserError,
        match="no crops 'five'; choose one of center, mirror, ten, whole, corners, own, windows, ",
    ):
        FeatureCache(BACKBONE, "five")


def test_maps_are_of_the_centre_view(photos, counted):
    cache = FeatureCache(BACKBONE, "ten")
    maps = cache.get(photos[:3], MAP)
    assert maps.shape == (3, 576, 7, 7)
    torch.testing.assert_close(
        maps.float().norm(dim=1), torch.ones(3, 7, 7), rtol=0, atol=2e-3
    )  # half precision
    network = features.load_backbone(cache.weights)
    views = torch.stack([network.views(open_photo(p), "center")[0] for p in photos[:3]])
    expected = torch.nn.functional.normalize(network(views)[1], dim=1).half()
    assert torch.equal(maps, expected)
    assert torch.equal(FeatureCache(BACKBONE).get(photos[:3], MAP), maps)  # whatever the crops
    assert len(counted) == 3


@pytest.mark.parametrize("crops", ["center", "mirror", "ten"])
def test_photo_in_memory_equals_its_cached_feature(photos, crops):
    cache = FeatureCache(BACKBONE, crops)
    stored = cache.get(photos[:5])
    encoded = cache.encode(open_photo(p) for p in photos[:5])
    torch.testing.assert_close(encoded, stored, rtol=0, atol=5e-4)
    assert (stored[0] - stored[1]).abs().max() > 5e-3


def test_photos_in_memory_go_through_the_network_in_batches(photos, monkeypatch):
    sizes = []
    encode_views = features.encode_views

    def counting(weights, kind, views, boxes):
        sizes.append(len(views))
        return encode_views(weights, kind, views, boxes)

    monkeypatch.setattr(features, "encode_views", counting)
    monkeypatch.setattr(features, "BATCH_VIEWS", 4)
    cache = FeatureCache(BACKBONE, "mirror")
    encoded = cache.encode(open_photo(p) for p in photos[:5])
    assert sizes == [2, 2, 1]  # photos, with two views each
    one_by_one = torch.cat([cache.encode([open_photo(p)]) for p in photos[:5]])
    torch.testing.assert_close(encoded, one_by_one, rtol=0, atol=5e-4)


def test_progress_counts_computed_photos(photos, monkeypatch):
    monkeypatch.setattr(features, "SHARD", 4)
    monkeypatch.setattr(features, "BATCH_VIEWS", 3)
    calls = []
    FeatureCache(BACKBONE).get(photos[:10], progress=lambda *so_far: calls.append(so_far))
    assert [done for done, _ in calls] == [0, 3, 4, 4, 7, 8, 8, 10]  # 0, 4 and 8 before a file
    assert {total for _, total in calls} == {10}


def test_the_first_photos_are_offered_while_others_are_computed(photos, monkeypatch, tmp_path):
    monkeypatch.setattr(features, "SHARD", 8)
    monkeypatch.setattr(features, "FIRST_SHARD", 2)
    monkeypatch.setattr(features, "BATCH_VIEWS", 2)
    partial = []
    complete = FeatureCache(BACKBONE).get(photos[:30], on_partial=partial.append)
    assert [len(part) for part in partial] == [2, 4, 8, 16, 24]
    assert all(torch.equal(part, complete[: len(part)]) for part in partial)
    again = []
    assert torch.equal(FeatureCache(BACKBONE).get(photos[:30], on_partial=again.append), complete)
    assert again == []  # as nothing is missing


def test_what_a_killed_run_has_computed_is_offered_at_once(photos, monkeypatch):
    FeatureCache(BACKBONE).get(photos[:10])
    FeatureCache(BACKBONE).get(photos[20:25])
    events = []
    complete = FeatureCache(BACKBONE).get(
        photos[:30],
        progress=lambda done, total: events.append((done, total)),
        on_partial=lambda part: events.append(len(part)),
    )
    assert events == [10, (0, 15), (15, 15)]
    assert len(complete) == 30


def test_photos_before_an_unreadable_one_are_offered(photos, monkeypatch, tmp_path):
    monkeypatch.setattr(features, "FIRST_SHARD", 2)
    monkeypatch.setattr(features, "SHARD", 2)
    bad = tmp_path / "bad.png"
    bad.write_text("no photo")
    partial = []
    with pytest.raises(UnreadablePhotos):
        FeatureCache(BACKBONE).get([*photos[:5], bad, *photos[5:9]], on_partial=partial.append)
    assert [len(part) for part in partial] == [2, 4, 5]


@pytest.mark.long
def test_killed_run_keeps_what_it_computed(photos, own_home, monkeypatch, counted):
    killed = start_driver(photos)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert len(list(own_home.rglob("*.safetensors"))) == 2
    monkeypatch.setattr(features, "BATCH_VIEWS", 2)
    resumed = FeatureCache(BACKBONE).get(photos)
    assert sorted(counted) == photos[8:]
    monkeypatch.setenv("VSDEMO_HOME", str(own_home / "fresh"))
    assert torch.equal(resumed, FeatureCache(BACKBONE).get(photos))


def test_two_processes_compute_each_photo_once(photos, own_home, monkeypatch, counted):
    other = start_driver(photos)
    monkeypatch.setattr(features, "BATCH_VIEWS", 2)
    monkeypatch.setattr(features, "SHARD", 4)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(FeatureCache(BACKBONE).get, photos)
        with pytest.raises(TimeoutError):
            waiting.result(1)  # the other process has its turn
        assert counted == []
        printed, errors = other.communicate("go on\n")
        vectors = waiting.result(60)
    assert other.returncode == 0, errors
    files = list(own_home.rglob("*.safetensors"))
    keys = [key for file in files for key in keys_of(file)]
    assert sorted(keys) == sorted({photo_key(photo) for photo in photos})
    assert printed.splitlines()[-1] == "40"
    assert torch.equal(FeatureCache(BACKBONE).get(photos), vectors)


@pytest.mark.long
def test_a_process_goes_on_when_the_one_that_computes_is_killed(photos, monkeypatch, counted):
    other = start_driver(photos)
    monkeypatch.setattr(features, "BATCH_VIEWS", 2)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(FeatureCache(BACKBONE).get, photos)
        os.kill(other.pid, signal.SIGKILL)
        other.communicate()
        vectors = waiting.result(60)
    assert sorted(counted) == photos[8:]
    assert torch.equal(FeatureCache(BACKBONE).get(photos), vectors)


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "no keys"])
def test_damaged_file_is_computed_again(photos, own_home, damage, counted):
    before = FeatureCache(BACKBONE).get(photos[:6])
    (file,) = own_home.rglob("*.safetensors")
    content = file.read_bytes()
    broken = {"cut": content[:-100], "empty": b"", "text": b"<html>not here</html>" * 9}
    if damage == "no keys":
        save_file({"features": torch.zeros(6, 1024)}, file)
    else:
        file.write_bytes(broken[damage])
    assert torch.equal(FeatureCache(BACKBONE).get(photos[:6]), before)
    assert len(counted) == 12
    assert torch.equal(FeatureCache(BACKBONE).get(photos[:6]), before)
    assert len(counted) == 12


def test_missing_photo_is_reported(photos, tmp_path):
    with pytest.raises(UserError, match=r"gone\.jpg cannot be read"):
        FeatureCache(BACKBONE).get([photos[0], tmp_path / "gone.jpg"])


def test_unreadable_photos_leave_the_others_cached(photos, tmp_path, monkeypatch):
    monkeypatch.setattr(features, "SHARD", 2)
    bad = [tmp_path / "text.png", tmp_path / "cut.png", tmp_path / "more text.png"]
    bad[0].write_text("no photo")
    bad[1].write_bytes(photos[0].read_bytes()[:99])
    bad[2].write_text("no photo")  # a copy of the first
    wanted = [photos[0], bad[0], *photos[1:3], *bad[1:], photos[3]]
    with pytest.raises(UnreadablePhotos, match=r"^text\.png is not a .* \(and 2 more") as caught:
        FeatureCache(BACKBONE).get(wanted)
    assert list(caught.value.why) == bad
    assert caught.value.why[bad[1]] == "cut.png is damaged or truncated."
    monkeypatch.setattr(features, "load_backbone", None)  # so nothing can be computed
    assert len(FeatureCache(BACKBONE).get(photos[:4])) == 4


def test_progress_does_not_depend_on_the_bar(photos, monkeypatch):
    """tqdm counts nothing while it is disabled."""
    monkeypatch.setattr(features, "tqdm", partial(tqdm, disable=True))
    calls = []
    FeatureCache(BACKBONE).get(photos[:2], progress=lambda *so_far: calls.append(so_far))
    assert calls == [(0, 2), (2, 2)]


def test_grey_photo_and_long_photo(tmp_path):
    Image.new("L", (64, 64), 90).save(tmp_path / "grey.png")
    Image.new("RGB", (40, 800), "red").save(tmp_path / "long.png")
    vectors = FeatureCache(BACKBONE, "ten").get([tmp_path / "grey.png", tmp_path / "long.png"])
    assert vectors.isfinite().all()
    assert not torch.equal(vectors[0], vectors[1])


def test_a_photo_that_changed_in_place_has_another_key(tmp_path):
    photo = tmp_path / "photo.png"
    Image.new("RGB", (9, 9), "red").save(photo)
    first = features.photo_key(photo)
    assert features.photo_key(photo) == first
    Image.new("RGB", (9, 9), "blue").save(photo)
    assert features.photo_key(photo) != first
    photo.unlink()
    with pytest.raises(UserError, match="cannot be read"):
        features.photo_key(photo)


def test_missing_photos_are_counted_by_content(photos, tmp_path):
    cache = FeatureCache(BACKBONE)
    cache.get(photos[:2])
    copy = shutil.copy(photos[3], tmp_path / "copy.png")
    wanted = [*photos[:4], copy, tmp_path / "gone.png"]
    keys = features.photo_keys(wanted)
    assert keys[-1] == ""
    assert all(keys[:-1])
    assert [wanted[n] for n in cache.missing(keys)] == [photos[2], photos[3], tmp_path / "gone.png"]


def test_the_seconds_of_a_photo_are_measured_by_network_and_crops(photos):
    cache, other = FeatureCache(BACKBONE), FeatureCache(BACKBONE, "mirror")
    cache.get(photos[: PROBE - 1])
    assert cache.seconds_per_photo is None  # too few
    cache.measure(photos[10:])
    measured = cache.seconds_per_photo
    assert 0 < measured < 10
    assert len(cache.missing(features.photo_keys(photos))) == len(photos) - 2 * PROBE
    cache.get(photos[10 : 10 + PROBE])  # cached: nothing to measure
    assert cache.seconds_per_photo == measured
    assert other.seconds_per_photo is None


def test_availability_counts_the_detector_too(monkeypatch):
    assert features.is_available(BACKBONE, "center")
    assert features.is_available(BACKBONE, "windows")
    assert not features.is_available("torchvision/resnet50", "center")
    monkeypatch.setitem(proposals.NETWORKS, "detector", lambda: False)
    assert not features.is_available(BACKBONE, "detector")
    monkeypatch.setitem(proposals.NETWORKS, "detector", lambda: True)
    assert features.is_available(BACKBONE, "detector")


def test_a_disk_that_damages_what_is_written_is_a_user_error(photos, own_home, monkeypatch):
    """Otherwise the features would be computed forever."""
    write = shards.tensors.write_checked

    def damaged(path, *values):
        write(path, *values)
        path.write_bytes(path.read_bytes()[:-1] + b"x")

    monkeypatch.setattr(shards.tensors, "write_checked", damaged)
    with pytest.raises(UserError, match="is damaged"):
        FeatureCache(BACKBONE).get(photos)
