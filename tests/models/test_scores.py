import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import normalize

from vsdemo.core.embeddings import Embeddings
from vsdemo.models import scores
from vsdemo.models.concept_scores import CosineDistance
from vsdemo.models.desai2023 import CONES, LORENTZ_DISTANCE
from vsdemo.models.scores import (
    SCORES,
    Cosine,
    Inner,
    OrderViolation,
    _OrderViolation,
    angle_and_order,
)

ALL = {
    **SCORES,
    "angle_and_order": angle_and_order(2, weight=0.5),
    "cosine_distance": CosineDistance(),
    "lorentz_distance": LORENTZ_DISTANCE,
    "cones": CONES,
}
every_score = pytest.mark.parametrize("name", ALL)


def random(rows: int, dim: int = 5, seed: int = 0, nonnegative: bool = False) -> Embeddings:
    x = torch.randn(rows, dim, generator=torch.Generator().manual_seed(seed))
    return Embeddings(x.abs() if nonnegative else x)


def by_loops(name: str, x: list[float], y: list[float]) -> float:
    """The score of one general x and one specific y, from its equation."""
    match name:
        case "inner":
            return sum(a * b for a, b in zip(x, y, strict=True))
        case "cosine":
            return by_loops("inner", x, y) / (math.hypot(*x) * math.hypot(*y))
        case "hub_corrected":
            return by_loops("cosine", x[:-1], y[:-1]) - x[-1] - y[-1]
        case "cosine_distance":
            return (by_loops("cosine", x, y) - 1) / 2
        case "euclidean":
            return -sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
        case "order":
            return -sum(max(0.0, a - b) ** 2 for a, b in zip(x, y, strict=True))
        case "order_reversed":
            return -sum(max(0.0, b - a) ** 2 for a, b in zip(x, y, strict=True))
        case "angle_and_order":
            return by_loops("inner", x[:2], y[:2]) + 0.5 * by_loops("order", x[2:], y[2:])
        case "lorentz_distance" | "cones":
            return hyperbolic_by_loops(name, x, y)
    raise ValueError(f"{name} has no loop here; write one")


def hyperbolic_by_loops(name: str, x: list[float], y: list[float]) -> float:
    minus_inner = time_of(x) * time_of(y) - by_loops("inner", x, y)
    if name == "lorentz_distance":
        return -math.acosh(minus_inner)
    side = math.sqrt(minus_inner**2 - 1)
    cosine = (time_of(y) - minus_inner * time_of(x)) / (math.hypot(*x) * side)
    return math.asin(0.2 / math.hypot(*x)) - math.acos(cosine)


def time_of(x: list[float]) -> float:
    return math.hypot(1, *x)


@every_score
def test_scores_equal_plain_loops(name):
    general, specific = random(4, seed=1), random(3, seed=2)
    expected = [[by_loops(name, x, y) for y in specific.x.tolist()] for x in general.x.tolist()]
    torch.testing.assert_close(ALL[name](general, specific), torch.tensor(expected))


@every_score
def test_only_hubs_of_general_items_are_added_to_all_of_their_scores(name):
    general = random(4, seed=1)
    offsets = ALL[name].offset(general)
    if name == "hub_corrected":
        without = Embeddings(torch.cat([general.x[:, :-1], torch.zeros(4, 1)], 1))
        specific = random(3, seed=2)
        expected = ALL[name](without, specific) + offsets[:, None]
        torch.testing.assert_close(ALL[name](general, specific), expected)
    else:
        assert offsets.tolist() == [0, 0, 0, 0]


@every_score
def test_pairs_are_the_diagonal(name):
    general, specific = random(6, seed=1), random(6, seed=2)
    whole = ALL[name](general, specific)
    torch.testing.assert_close(ALL[name].pairs(general, specific), whole.diagonal())


@every_score
def test_empty_embeddings_have_empty_scores(name):
    score, none = ALL[name], random(0)
    assert score(none, random(3)).shape == (0, 3)
    assert score(random(3), none).shape == (3, 0)
    assert score(none, none).shape == (0, 0)
    assert score.pairs(none, none).shape == (0,)
    assert score.symmetric(none, random(3)).shape == (0, 3)


@every_score
def test_symmetric_scores_are_symmetric(name):
    a, b = random(4, seed=1), random(3, seed=2)
    ahead, back = ALL[name].symmetric(a, b), ALL[name].symmetric(b, a)
    torch.testing.assert_close(ahead, back.T)


@every_score
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("large", [1, 10**6], ids=["compiled", "in parts"])
def test_one_query_has_the_same_scores(monkeypatch, name, symmetric, dtype, large):
    monkeypatch.setattr(scores, "LARGE", large)
    monkeypatch.setattr(scores, "CPU_PART", 7)
    score, query, stored = ALL[name], random(1), Embeddings(random(20, seed=1).x.to(dtype))
    result = score.of_query(query, stored, symmetric=symmetric)
    expected = (score.symmetric if symmetric else score)(query, stored.float())[0]
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)


@every_score
def test_to_unit_clamps_rounding_errors(name):
    unit = ALL[name].to_unit(torch.tensor([-1.00001, 1.00001]))
    assert 0 <= unit[0] < unit[1] <= 1


@every_score
def test_to_unit_is_monotone_and_between_0_and_1_for_unit_vectors(name):
    nonnegative = "order" in name
    a, b = (normalize(random(20, seed=s, nonnegative=nonnegative).x, dim=-1) for s in (1, 2))
    values = ALL[name](Embeddings(torch.cat([a, b])), Embeddings(torch.cat([b, a])))
    values = values.flatten().sort().values
    unit = ALL[name].to_unit(values)
    assert 0 <= unit.min() < unit.max() <= 1
    assert (unit.diff() >= 0).all()
    inside = (unit > 0) & (unit < 1)
    assert (unit[inside].diff() > 0)[values[inside].diff() > 1e-6].all()


@pytest.mark.parametrize("room", [1, 7, 16, 100])
def test_chunking_never_changes_scores_or_gradients(monkeypatch, room):
    def run():
        lower, upper = (random(n, seed=n).x.requires_grad_() for n in (7, 5))
        result = SCORES["order"](Embeddings(lower), Embeddings(upper))
        (result * torch.arange(35.0).view(7, 5)).sum().backward()
        return result.detach(), lower.grad, upper.grad

    whole = run()
    monkeypatch.setattr(scores, "CPU_BLOCK", room)
    assert len(list(scores._blocks(torch.zeros(7, 5), torch.zeros(5, 5)))) > 1
    torch.testing.assert_close(run(), whole)


@pytest.mark.parametrize("room", [1, 16, 1000])
def test_pairs_without_a_gradient_are_left_out(monkeypatch, room):
    weights = torch.zeros(7, 5)
    weights[[0, 0, 3, 6], [1, 4, 1, 2]] = torch.tensor([1.0, -2.0, 0.5, 3.0])
    grads = []
    for share in (0.25, 0):
        monkeypatch.setattr(scores, "SPARSE", share)
        monkeypatch.setattr(scores, "CPU_BLOCK", room)
        lower, upper = (random(n, seed=n).x.requires_grad_() for n in (7, 5))
        (SCORES["order"](Embeddings(lower), Embeddings(upper)) * weights).sum().backward()
        grads.append((lower.grad, upper.grad))
    torch.testing.assert_close(*grads)
    assert grads[0][0][1].eq(0).all()


def test_gradient_of_the_order_violation():
    lower = random(4, 3, seed=1).x.double().requires_grad_()
    upper = random(5, 3, seed=2).x.double().requires_grad_()
    assert (lower[:, None] - upper).abs().min() > 1e-3  # no kink within gradcheck's steps
    assert torch.autograd.gradcheck(_OrderViolation.apply, (lower, upper))


@every_score
def test_gradient_of_the_whole_is_that_of_the_pairs(name):
    grads = []
    for pairs in (False, True):
        x, y = (random(4, seed=s).x.double().requires_grad_() for s in (1, 2))
        score, sides = ALL[name], (Embeddings(x), Embeddings(y))
        (score.pairs(*sides) if pairs else score(*sides).diagonal()).sum().backward()
        grads.append((x.grad, y.grad))
    torch.testing.assert_close(*grads)


vectors = st.lists(st.floats(0, 1, width=32), min_size=3, max_size=3).map(torch.tensor)


def order(x: torch.Tensor, y: torch.Tensor) -> float:
    return float(OrderViolation()(Embeddings(x[None]), Embeddings(y[None])))


@given(vectors, vectors)
def test_the_violation_is_0_exactly_where_the_order_holds(x, y):
    # A difference below 1e-20 squares to 0 in float32, so the coordinates are rounded.
    x, y = x.round(decimals=3), y.round(decimals=3)
    assert (order(x, y) == 0) == bool((x <= y).all())
    assert order(torch.minimum(x, y), y) == 0


@given(vectors, vectors, vectors)
def test_the_order_is_transitive(x, y, z):
    low, middle = torch.minimum(torch.minimum(x, y), z), torch.minimum(y, z)
    assert order(low, middle) == order(middle, z) == order(low, z) == 0


@every_score
def test_a_directed_score_tells_general_from_specific(name):
    """An order tells by its own score, and a symmetric score by the order beside it."""
    score, a, b = ALL[name], random(6, seed=1), random(6, seed=2)
    fit = score.directed
    tells = not torch.allclose(fit.pairs(a, b), fit.pairs(b, a))
    assert tells == (score.order is not None)
    if score.order is not None:
        part_a, part_b = (Embeddings(score.order_part(side.x)) for side in (a, b))
        assert (score.order.violation(part_a, part_b) >= 0).all()


@pytest.mark.parametrize("order", [OrderViolation(), OrderViolation(reversed=True), CONES])
def test_an_order_is_minus_its_violation_where_it_is_violated(order):
    a, b = random(6, seed=1), random(5, seed=2)
    scores, violations = order(a, b), order.violation(a, b)
    torch.testing.assert_close(violations, -scores.clamp(max=0))
    assert (violations > 0).any()


def test_reversed_turns_general_and_specific_around():
    a, b = random(4, seed=1), random(3, seed=2)
    torch.testing.assert_close(SCORES["order_reversed"](a, b), SCORES["order"](b, a).T)


def test_a_caption_above_its_photo_fits_best():
    photo = Embeddings(torch.tensor([[0.6, 0.8]]))
    captions = Embeddings(torch.tensor([[0.5, 0.7], [0.8, 0.6], [1.0, 0.0]]))
    assert OrderViolation()(captions, photo)[:, 0].tolist() == pytest.approx([0, -0.04, -0.16])


def test_scale_matters_to_the_inner_product_only():
    a, b, doubled = random(4, seed=1), random(3, seed=2), Embeddings(2 * random(3, seed=2).x)
    torch.testing.assert_close(Cosine()(a, doubled), Cosine()(a, b))
    torch.testing.assert_close(Inner()(a, doubled), 2 * Inner()(a, b))


@every_score
def test_a_score_has_a_unit_and_a_description(name):
    assert ALL[name].unit
    assert ALL[name].meaning.endswith(".")


@every_score
def test_a_score_without_parts_or_order_says_so(name):
    score, x = ALL[name], random(2)
    assert not score.can_align
    for method in (score.align, score.align_pairs, score.align_parts):
        with pytest.raises(TypeError, match="parts"):
            method(x, x)
    with pytest.raises(TypeError, match="parts"):
        score.part_scores(x.x, x.x, x)
    with pytest.raises(TypeError, match="parts"):
        score.pool_parts(x.x, x, x)
    if score.order is None:
        with pytest.raises(TypeError, match="no order"):
            score.order_part(x.x)
