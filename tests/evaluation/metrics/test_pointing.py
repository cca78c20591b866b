import pytest
import torch

from vsdemo.evaluation.metrics.pointing import accuracy, baselines
from vsdemo.vision import regions

NONE = [0.0, 0.0, 0.0, 0.0]
LEFT, RIGHT, FRAME = [0.0, 0.0, 0.4, 1.0], [0.6, 0.0, 1.0, 1.0], list(regions.FRAME)


def iou(box, other) -> float:
    """Return the intersection over union of two boxes."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    both = max(0, width) * max(0, height)
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (box, other)]
    return both / (sum(areas) - both) if sum(areas) else 0


def fraction_within(box, cell) -> float:
    """Return the fraction of a box that lies in a cell."""
    width = max(0, min(box[2], cell[2]) - max(box[0], cell[0]))
    height = max(0, min(box[3], cell[3]) - max(box[1], cell[1]))
    return width * height / ((box[2] - box[0]) * (box[3] - box[1]))


def hottest(scores, boxes, side: int = 28) -> tuple[float, float]:
    """Return the centre of the cells with the most heat, by plain loops."""
    heat = {}
    for column in range(side):
        for row in range(side):
            cell = [column / side, row / side, (column + 1) / side, (row + 1) / side]
            heat[(column + 0.5) / side, (row + 0.5) / side] = sum(
                max(0, s) * fraction_within(b, cell) for s, b in zip(scores, boxes, strict=True)
            )
    best = [place for place, h in heat.items() if h > max(heat.values()) * (1 - 1e-5)]
    return sum(x for x, _ in best) / len(best), sum(y for _, y in best) / len(best)


def is_hit(point, gold) -> bool:
    return any(b[0] <= point[0] <= b[2] and b[1] <= point[1] <= b[3] for b in gold)


def union(gold) -> list[float]:
    left, top, right, bottom = zip(*gold, strict=True)
    return [min(left), min(top), max(right), max(bottom)]


def random_boxes(*shape: int) -> torch.Tensor:
    corners = torch.rand(*shape, 2, 2).sort(-2).values
    return corners.flatten(-2).add(torch.tensor([0, 0, 0.05, 0.05])).clamp(max=1)


def test_accuracy_and_baselines_equal_plain_loops():
    torch.manual_seed(0)
    boxes, gold = random_boxes(60, 6), random_boxes(60, 3)
    gold[:30, 1:] = 0
    boxes[:20, 4:] = 0
    scores = torch.rand(60, 6) * (boxes != 0).any(-1)
    result = accuracy(scores, boxes, gold)
    chance = baselines(boxes, gold)
    for q in range(60):
        own = [b for b in gold[q].tolist() if any(b)]
        kept = [
            (s, b) for s, b in zip(scores[q].tolist(), boxes[q].tolist(), strict=True) if any(b)
        ]
        point = hottest(*zip(*kept, strict=True))
        assert result["pointing"][q] == is_hit(point, own)
        assert result["iou50"][q] == (iou(max(kept)[1], union(own)) >= 0.5)
        middles = [((b[0] + b[2]) / 2, (b[1] + b[3]) / 2) for _, b in kept]
        right = [is_hit(middle, own) for middle in middles]
        assert chance["random.pointing"][q] == pytest.approx(sum(right) / len(right))
        right = [iou(b, union(own)) >= 0.5 for _, b in kept]
        assert chance["random.iou50"][q] == pytest.approx(sum(right) / len(right))
        for name, box in (("centre", [0.25, 0.25, 0.75, 0.75]), ("frame", FRAME)):
            assert chance[f"{name}.pointing"][q] == is_hit((0.5, 0.5), own)
            assert chance[f"{name}.iou50"][q] == (iou(box, union(own)) >= 0.5)


def test_baselines_by_hand():
    boxes = torch.tensor([[LEFT, RIGHT, NONE, FRAME]])
    gold = torch.tensor([[LEFT, NONE], [FRAME, NONE], [LEFT, RIGHT]])
    result = baselines(boxes.expand(3, -1, -1), gold)
    assert {name: right.tolist() for name, right in result.items()} == {
        "random.pointing": [pytest.approx(1 / 3), 1, pytest.approx(2 / 3)],
        "random.iou50": [pytest.approx(1 / 3)] * 3,  # one of three boxes is right
        "centre.pointing": [0, 1, 0],
        "centre.iou50": [0, 0, 0],
        "frame.pointing": [0, 1, 0],
        "frame.iou50": [0, 1, 1],
    }


def test_tied_regions_share_the_answer():
    boxes = torch.tensor([[LEFT, RIGHT, NONE, FRAME]])
    result = accuracy(torch.tensor([[1.0, 1.0, 0.0, 0.0]]), boxes, torch.tensor([[LEFT]]))
    assert result["iou50"].tolist() == [0.5]
    assert result["pointing"].tolist() == [0]  # between the two
