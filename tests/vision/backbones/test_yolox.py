"""YOLOX: its input, its output, and output that is not finite."""

import math
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.support.fake_detector import CLASSES, PLACES, fake_onnxruntime, output_for
from vsdemo.core.errors import UserError
from vsdemo.vision import regions
from vsdemo.vision.backbones.detectors import STRIDES, YOLOX, Detector, decode, letterbox
from vsdemo.vision.backbones.weights import Weights
from vsdemo.vision.crops import MOST_REGIONS

FRAME = torch.tensor(regions.FRAME)


@pytest.fixture
def yolox(tmp_path, monkeypatch):
    """Builds a detector from a function of pixels (1, 3, 416, 416) to outputs (PLACES, 85)."""

    def make(see, **options) -> Detector:
        monkeypatch.setitem(sys.modules, "onnxruntime", fake_onnxruntime(see, **options))
        return Detector(Weights(YOLOX, tmp_path / "yolox_nano.onnx", "0"))

    return make


def photo_of(width: int, height: int) -> Image.Image:
    return Image.new("RGB", (width, height), "teal")


def by_loops(raw: list[list[float]], side: int) -> list[list[float]]:
    """x0 y0 x1 y1 score of each place, by YOLOX's equations."""
    boxes, outputs = [], iter(raw)
    for stride in STRIDES:
        for row in range(side // stride):
            for column in range(side // stride):
                x, y, width, height, thing, *classes = next(outputs)
                x, y = (x + column) * stride, (y + row) * stride
                width, height = math.exp(width) * stride, math.exp(height) * stride
                corners = [x - width / 2, y - height / 2, x + width / 2, y + height / 2]
                boxes.append([*corners, max(thing * c for c in classes)])
    assert next(outputs, None) is None
    return boxes


def test_decode_agrees_with_plain_loops():
    generator = torch.Generator().manual_seed(0)
    raw = torch.randn(64 + 16 + 4, 8, generator=generator)
    raw[:, 4:] = raw[:, 4:].sigmoid()
    expected = torch.tensor(by_loops(raw.tolist(), 64))
    boxes, scores = decode(raw, 64)
    torch.testing.assert_close(torch.cat([boxes, scores[:, None]], 1), expected)


@given(st.integers(1, 600), st.integers(1, 600))
def test_letterbox_fits_any_shape(width, height):
    pixels, (wide, tall) = letterbox(Image.new("RGB", (width, height), (10, 20, 30)), 416)
    assert pixels.shape == (1, 3, 416, 416)
    assert pixels.dtype == np.float32
    assert max(wide, tall) == 416
    assert min(wide, tall) == max(1, round(416 * min(width, height) / max(width, height)))
    assert (pixels[0, :, :tall, :wide] == np.array([30, 20, 10])[:, None, None]).all()  # B, G, R
    assert (pixels[0, :, tall:] == 114).all()
    assert (pixels[0, :, :, wide:] == 114).all()


@pytest.mark.parametrize(
    "size", [(640, 480), (400, 100), (100, 400), (1000, 50), (31, 30), (2000, 1999)]
)
def test_a_box_is_where_the_object_is(size, yolox):
    """The fake network detects what is red."""

    def see(pixels: np.ndarray) -> np.ndarray:
        blue, green, red = pixels[0]
        rows, columns = np.nonzero((red > 150) & (green < 90) & (blue < 90))
        edges = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
        return output_for((*edges, 0.9))

    width, height = size
    box = torch.tensor([0.6, 0.1, 0.9, 0.7])
    photo = Image.new("RGB", size, "green")
    corners = (box * torch.tensor([width, height] * 2)).round().int().tolist()
    photo.paste("red", tuple(corners))
    boxes = yolox(see).boxes([photo])[0, 0]
    exact = torch.tensor(corners) / torch.tensor([width, height] * 2)
    pixel = max(max(size) / 416, 0.5) / torch.tensor(
        [width, height] * 2
    )  # or half a pixel of the photo
    assert ((boxes - exact).abs() <= 1.01 * pixel).all()


def test_best_first_then_zeros_then_the_frame(yolox):
    apart = [(40 * i, 10, 40 * i + 30, 60, 0.1 * (i + 1)) for i in range(5)]
    boxes = yolox(lambda _: output_for(*apart)).boxes([photo_of(416, 416)] * 2)
    assert boxes.shape == (2, MOST_REGIONS, 4)
    assert boxes.dtype == torch.float32
    expected = torch.tensor([box[:4] for box in reversed(apart)]) / 416
    torch.testing.assert_close(boxes[0, :5], expected)
    assert (boxes[0, 5:19] == 0).all()
    assert torch.equal(boxes[:, 19], FRAME.expand(2, 4))
    assert torch.equal(boxes[0], boxes[1])


def test_nineteen_of_many(yolox):
    apart = [(20 * i, 30 * j, 20 * i + 19, 30 * j + 29, 0.5) for i in range(20) for j in range(3)]
    boxes = yolox(lambda _: output_for(*apart)).boxes([photo_of(416, 416)])[0]
    assert (boxes[:19] != 0).any(1).all()
    assert torch.equal(boxes[19], FRAME)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("columns", [slice(0, 1), slice(2, 3), slice(4, 5), slice(5, None)])
def test_values_that_are_not_finite_are_dropped(value, columns, yolox):
    def see(_: np.ndarray) -> np.ndarray:
        raw = output_for((10, 10, 50, 50, 0.5), (100, 100, 200, 200, 0.4))
        raw[2:, columns] = value
        raw[0, columns] = value
        return raw

    boxes = yolox(see).boxes([photo_of(416, 416)])[0]
    assert boxes.isfinite().all()
    regions.check(boxes, "the test")
    assert torch.equal(boxes[19], FRAME)
    torch.testing.assert_close(boxes[0], torch.tensor([100, 100, 200, 200]) / 416)


def test_only_the_frame_is_left_of_nothing_but_nan(yolox):
    nans = np.full((PLACES, 5 + CLASSES), math.nan, np.float32)
    boxes = yolox(lambda _: nans).boxes([photo_of(30, 40)])[0]
    assert (boxes[:19] == 0).all()
    assert torch.equal(boxes[19], FRAME)


@pytest.mark.parametrize("size", [(1, 1), (500, 20), (20, 500)])
def test_photos_of_extreme_shapes(size, yolox):
    boxes = yolox(lambda _: output_for((0, 0, 416, 416, 0.9))).boxes([photo_of(*size)])
    torch.testing.assert_close(boxes[0, [0, 19]], FRAME.expand(2, 4))


def test_no_photos(yolox):
    assert yolox(lambda _: output_for()).boxes([]).shape == (0, 20, 4)


def test_file_of_another_network_is_reported(yolox):
    with pytest.raises(UserError, match=r"yolox_nano\.onnx do not fit.*8400") as caught:
        yolox(lambda _: output_for(), shape=(1, 8400, 85))
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_onnxruntime_uses_as_many_threads_as_torch(yolox):
    network = yolox(lambda _: output_for()).net
    assert network.session.options.intra_op_num_threads == torch.get_num_threads()
