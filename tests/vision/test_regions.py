"""Boxes: layouts, checks, heat maps, the hottest place, overlaps."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torchvision.ops import box_iou

from vsdemo.core.errors import UserError
from vsdemo.vision import regions
from vsdemo.vision.crops import REGIONS
from vsdemo.vision.regions import FRAME, LEAST, check, heat, overlap, pad, point


@st.composite
def some_boxes(draw, count: int = 4) -> torch.Tensor:
    """Boxes (count, 4), each at least 0.01 wide and high."""
    rows = []
    for _ in range(count):
        x0, y0 = (draw(st.floats(0, 0.99)) for _ in "xy")
        x1, y1 = (draw(st.floats(min(low + 0.01, 1), 1)) for low in (x0, y0))
        rows.append([x0, y0, x1, y1])
    return torch.tensor(rows)


def random_boxes(count: int, seed: int = 0) -> torch.Tensor:
    corners = torch.rand(count, 2, 2, generator=torch.Generator().manual_seed(seed))
    corners = corners.sort(1).values
    return torch.cat([corners[:, 0], corners[:, 1].clamp(min=corners[:, 0] + 0.01)], 1).clamp(0, 1)


@pytest.mark.parametrize(
    ("choice", "layout"), [("windows", regions.windows), ("grid", regions.grid)]
)
def test_fixed_regions_end_with_the_frame(choice, layout):
    boxes = layout()
    assert boxes.shape == (REGIONS[choice].vectors, 4)
    assert boxes.dtype == torch.float32
    assert tuple(boxes[-1].tolist()) == FRAME
    check(boxes, choice)
    assert len({tuple(box) for box in boxes.tolist()}) == len(boxes)  # no duplicates


def test_windows_have_the_declared_shapes():
    boxes = regions.windows()[:-1]
    sizes = [(w, h) for w, h, columns, rows in regions.SHAPES for _ in range(columns * rows)]
    torch.testing.assert_close(boxes[:, 2:] - boxes[:, :2], torch.tensor(sizes))
    for width, height, *_ in regions.SHAPES:
        same = (boxes[:, 2:] - boxes[:, :2] - torch.tensor([width, height])).abs().amax(1) < 1e-5
        for axis, size in ((0, width), (1, height)):
            starts = boxes[same][:, axis].unique()
            low, high = starts.min().item(), starts.max().item()
            assert low == pytest.approx(1 - size - high, abs=1e-6)  # symmetric


def test_windows_cover_the_photo():
    boxes = regions.windows()[:-1]
    assert (heat(torch.ones(len(boxes)), boxes) > 0).all()


def test_the_grid_covers_the_photo_row_by_row():
    boxes = regions.grid()[:-1]
    assert (heat(torch.ones(len(boxes)), boxes) > 0).all()
    torch.testing.assert_close(boxes[0], torch.tensor([0, 0, 0.16, 0.16]))
    torch.testing.assert_close(boxes[1], torch.tensor([0.84 / 11, 0, 0.84 / 11 + 0.16, 0.16]))
    torch.testing.assert_close(boxes[143], torch.tensor([0.84, 0.84, 1, 1]))


@given(st.integers(0, 12), st.integers(1, 8))
def test_pad_adds_zeros_and_the_frame(present, count):
    boxes = random_boxes(present)
    padded = pad(boxes.tolist(), count)
    kept = min(present, count - 1)
    assert padded.shape == (count, 4)
    assert torch.equal(padded[:kept], boxes[:kept])
    assert (padded[kept:-1] == 0).all()
    assert tuple(padded[-1].tolist()) == FRAME


@given(some_boxes(), st.integers(0, 3))
def test_check_accepts_boxes(boxes, empty):
    boxes[empty] = 0
    check(boxes, "the test")
    check(boxes.view(2, 2, 4), "the test")


def test_check_accepts_no_boxes():
    check(torch.zeros(0, 4), "the test")
    check(torch.zeros(3, 20, 4), "the test")


@pytest.mark.parametrize(
    ("box", "problem"),
    [
        ((math.nan, 0, 1, 1), "not a number"),
        ((0, 0, math.nan, 1), "not a number"),
        ((math.nan,) * 4, "not a number"),
        ((0, 0, math.inf, 1), "not a number"),
        ((-math.inf, 0, 1, 1), "not a number"),
        ((0.6, 0.1, 0.4, 0.9), "no width"),
        ((0.1, 0.6, 0.9, 0.4), "no width or no height"),
        ((0.4, 0.1, 0.4, 0.9), "no width"),
        ((0.1, 0.4, 0.9, 0.4), "no width or no height"),
        ((0.1, 0.1, 0.1 + LEAST / 2, 0.9), "no width"),
        ((-0.1, 0, 1, 1), "outside"),
        ((0, -1e-3, 1, 1), "outside"),
        ((0, 0, 1.5, 1), "outside"),
        ((0, 0, 1, 300), "outside"),
    ],
)
@pytest.mark.parametrize("row", [0, 2])
def test_check_names_the_problem(box, problem, row):
    boxes = random_boxes(3)
    boxes[row] = torch.tensor(box)
    with pytest.raises(UserError, match=rf"^A box of photo 7\.jpg has .*{problem}") as caught:
        check(boxes, "photo 7.jpg")
    assert str(caught.value).endswith("as fractions from 0 to 1.")
    assert "\n" not in str(caught.value)
    with pytest.raises(UserError, match=problem):
        check(boxes.view(1, 3, 4).double(), "photo 7.jpg")


def heat_by_loops(scores: list[float], boxes: list[list[float]], side: int) -> list[list[float]]:
    sums = [[0.0] * side for _ in range(side)]
    for row in range(side):
        for column in range(side):
            for score, (x0, y0, x1, y1) in zip(scores, boxes, strict=True):
                across = min(x1, (column + 1) / side) - max(x0, column / side)
                down = min(y1, (row + 1) / side) - max(y0, row / side)
                if across > 0 and down > 0:
                    share = across * down / ((x1 - x0) * (y1 - y0))
                    sums[row][column] += max(0.0, score) * share
    return sums


@pytest.mark.parametrize("side", [1, 7, 28])
def test_heat_agrees_with_plain_loops(side):
    boxes = torch.cat([random_boxes(6), torch.zeros(2, 4), torch.tensor([FRAME])])
    scores = torch.randn(3, 9, generator=torch.Generator().manual_seed(1))
    expected = [heat_by_loops(s, boxes.tolist(), side) for s in scores.tolist()]
    torch.testing.assert_close(heat(scores, boxes, side), torch.tensor(expected))


def test_heat_keeps_leading_dimensions():
    boxes, scores = random_boxes(5), torch.rand(2, 3, 5)
    maps = heat(scores, boxes, 8)
    assert maps.shape == (2, 3, 8, 8)
    torch.testing.assert_close(maps[1, 2], heat(scores[1, 2], boxes, 8))
    assert heat(torch.zeros(0, 5), boxes).shape == (0, 28, 28)
    assert heat(torch.ones(0), torch.zeros(0, 4), 4).tolist() == [[0.0] * 4] * 4


@given(some_boxes(), st.lists(st.floats(-5, 5, width=32), min_size=4, max_size=4))
def test_heat_is_never_negative_and_ignores_missing_boxes(boxes, values):
    scores = torch.tensor(values)
    warm = heat(scores, boxes)
    assert (warm >= 0).all()
    torch.testing.assert_close(warm, heat(scores.clamp(min=0), boxes))
    torch.testing.assert_close(heat(3 * scores, boxes), 3 * warm)
    with_missing = torch.cat([boxes, torch.zeros(1, 4)])
    torch.testing.assert_close(heat(torch.cat([scores, torch.ones(1)]), with_missing), warm)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(1, 4), st.integers(1, 4))
def test_a_box_spreads_its_whole_score(column, row, width, height):
    box = torch.tensor([[column, row, min(column + width, 5), min(row + height, 5)]]) / 5
    assert heat(torch.tensor([0.7]), box, 8).sum().item() == pytest.approx(0.7, rel=1e-5)


def test_heat_is_upright():
    top_right = torch.tensor([[0.5, 0.0, 1.0, 0.25]])
    warm = heat(torch.ones(1), top_right, 4) > 0
    assert warm.int().tolist() == [[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_point_of_a_single_maximum():
    maps = torch.zeros(2, 3, 4, 4)
    maps[0, 0, 1, 3] = maps[1, 2, 3, 0] = 1
    places = point(maps)
    assert places.shape == (2, 3, 2)
    torch.testing.assert_close(places[0, 0], torch.tensor([0.875, 0.375]))
    torch.testing.assert_close(places[1, 2], torch.tensor([0.125, 0.875]))
    torch.testing.assert_close(places[0, 1], torch.tensor([0.5, 0.5]))  # a uniform map


def test_point_of_a_tie():
    tied = torch.zeros(4, 4)
    tied[0, 0] = tied[0, 1] = tied[2, 0] = 2
    tied[3, 3] = 1.9
    expected = [(0.125 + 0.375 + 0.125) / 3, (0.125 + 0.125 + 0.625) / 3]
    torch.testing.assert_close(point(tied), torch.tensor(expected))


@given(some_boxes(1))
def test_point_of_one_box_is_its_centre(boxes):
    side = 28
    warm = heat(torch.ones(1), boxes, side)
    middle = (boxes[0, :2] + boxes[0, 2:]) / 2
    assert ((point(warm) - middle).abs() <= 0.5 / side + 1e-5).all()


@given(some_boxes(6), some_boxes(5))
def test_overlap_agrees_with_torchvision(a, b):
    torch.testing.assert_close(overlap(a[:, None], b), box_iou(a, b), rtol=1e-4, atol=1e-6)


@given(some_boxes(4), some_boxes(4))
def test_overlap_is_symmetric_and_between_0_and_1(a, b):
    overlaps = overlap(a, b)
    assert overlaps.shape == (4,)
    assert ((overlaps >= 0) & (overlaps <= 1 + 1e-6)).all()
    torch.testing.assert_close(overlaps, overlap(b, a))
    torch.testing.assert_close(overlap(a, a), torch.ones(4))


def test_overlap_of_known_boxes():
    a = torch.tensor([0.0, 0.0, 0.5, 0.5])
    b = torch.tensor([[0.25, 0.25, 0.75, 0.75], [0.5, 0.0, 1.0, 0.5], [0.0, 0.0, 1.0, 1.0]])
    torch.testing.assert_close(overlap(a, b), torch.tensor([1 / 7, 0.0, 0.25]))
    assert overlap(a, torch.zeros(4)).item() == 0  # a missing box
    assert overlap(torch.zeros(4), torch.zeros(4)).item() == 0


def test_boxes_in_a_part_of_a_photo():
    """The right half of one photo, and the mirrored lower half of another one."""
    frames = torch.tensor([[0.5, 0.0, 1.0, 1.0, 0.0], [0.0, 0.5, 1.0, 1.0, 1.0]])
    boxes = torch.tensor(
        [
            [[0.6, 0.2, 0.8, 0.4], [0.0, 0.0, 0.6, 1.0], [0.4, 0.0, 0.8, 1.0]],
            [[0.1, 0.5, 0.3, 0.75], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]],
        ]
    )
    expected = torch.tensor(
        [
            [[0.2, 0.2, 0.6, 0.4], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.6, 1.0]],
            [[0.7, 0.0, 0.9, 0.5], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]],
        ]
    )
    torch.testing.assert_close(regions.in_frames(boxes, frames), expected)


def test_boxes_in_the_whole_frame_stay():
    boxes = torch.rand(4, 3, 4).sort(-1).values
    whole = torch.tensor([[0.0, 0.0, 1.0, 1.0, 0.0]]).expand(4, 5)
    torch.testing.assert_close(regions.in_frames(boxes, whole), boxes)
