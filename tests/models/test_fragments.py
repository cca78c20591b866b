"""Score and loss of fragments (Karpathy 2014), compared with plain loops."""

import pytest
import torch

from vsdemo.core import device
from vsdemo.core.config import override
from vsdemo.core.embeddings import Embeddings
from vsdemo.models import preset, scores
from vsdemo.models.losses import Fragments, PairwiseRanking, build
from vsdemo.models.scores import FragmentAlignment, fragment_alignment

LABELS = torch.tensor([3, 1, 3, 0])  # rows 0 and 2 are captions of one photo
WAYS: list[dict] = [
    {"smoothing": 5.0, "best_region": False},
    {"smoothing": 1.0, "best_region": True},
    {"smoothing": 2.0, "best_region": False, "signed": True},
    {"smoothing": 0.0, "best_region": True, "signed": True},
]


def sets(rows: int, most: int, seed: int, dim: int = 3) -> Embeddings:
    """Sets of 1 to `most` embeddings, padded with zeros."""
    draw = torch.Generator().manual_seed(seed)
    sizes = torch.randint(1, most + 1, (rows,), generator=draw)
    mask = torch.arange(most) < sizes[:, None]
    x = torch.randn(rows, most, dim, generator=draw, dtype=torch.float64)
    return Embeddings(x * mask[..., None], mask)


def fragments(fragment_weight, ranking_weight, mil_start, margin) -> Fragments:
    return Fragments(
        fragment_weight=fragment_weight,
        ranking_weight=ranking_weight,
        mil_start=mil_start,
        ranking=PairwiseRanking(margin, hardest=0.0),
    )


def members(of: Embeddings, row: int) -> list[torch.Tensor]:
    return list(of.x[row][of.mask[row]])


def by_loops(score, general, specific) -> list[list[float]]:
    """Eq. 6, and for the best region Eq. 8 of Karpathy & Fei-Fei 2015, a pair at a time."""
    table = []
    for sentence in range(len(general)):
        row = []
        for photo in range(len(specific)):
            total = 0.0
            for s in members(general, sentence):
                products = [max(0.0, float(v @ s)) for v in members(specific, photo)]
                part = max(products) if score.best_region else sum(products) / len(products)
                total += -part if score.signed and s[-1] < 0 else part
            row.append(total / (len(members(general, sentence)) + score.smoothing))
        table.append(row)
    return table


@pytest.fixture(params=WAYS, ids=["mean", "best", "signed mean", "signed best"])
def score(request):
    return FragmentAlignment(**request.param)


def test_the_score_equals_plain_loops(score, monkeypatch):
    general, specific = sets(5, 4, 1), sets(4, 3, 2)
    expected = torch.tensor(by_loops(score, general, specific), dtype=torch.float64)
    torch.testing.assert_close(score(general, specific), expected)
    monkeypatch.setattr(scores, "CPU_BLOCK", 1)  # a sentence a block
    torch.testing.assert_close(score(general, specific), expected)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("large", [1, 10**6], ids=["compiled", "in parts"])
def test_one_query_has_the_same_scores(score, monkeypatch, large, dtype, symmetric):
    monkeypatch.setattr(scores, "LARGE", large)
    monkeypatch.setattr(scores, "CPU_PART", 3)
    query, stored = sets(1, 4, 1, dim=21), sets(8, 3, 2, dim=21)
    query, stored = query.float(), Embeddings(stored.x.to(dtype), stored.mask)
    stored.x[5], stored.mask[5] = 0, False  # a photo without regions
    expected = (score.symmetric if symmetric else score)(query, stored.float())[0]
    result = score.of_query(query, stored, symmetric=symmetric)
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)


def test_pairs_are_the_diagonal(score):
    general, specific = sets(5, 4, 1), sets(5, 3, 2)
    whole = score(general, specific)
    torch.testing.assert_close(score.pairs(general, specific), whole.diagonal())


def test_alignment_is_every_inner_product(score):
    general, specific = sets(5, 4, 1), sets(5, 3, 2)
    whole = score.align(general, specific)
    assert whole.shape == (5, 5, 4, 3)
    for g, s, m, k in [(0, 1, 0, 0), (4, 2, 1, 1), (3, 3, 3, 2)]:
        expected = general.x[g, m] @ specific.x[s, k]
        assert whole[g, s, m, k].item() == pytest.approx(expected.item())
    rows = torch.stack([whole[i, i] for i in range(5)])
    torch.testing.assert_close(score.align_pairs(general, specific), rows)


def test_padding_changes_no_score(score):
    general, specific = sets(5, 4, 1), sets(4, 3, 2)
    wider = [Embeddings.cat([x, sets(1, 9, 7)])[: len(x)] for x in (general, specific)]
    assert wider[0].x.shape[1] == 9
    torch.testing.assert_close(score(*wider), score(general, specific))


def test_part_scores_add_up_to_the_score(score):
    general, specific = sets(1, 4, 1), sets(1, 3, 2)
    fragments = general.x[general.mask][:, None]
    shares = score.part_scores(score.align_parts(general, specific), fragments, specific)
    total = shares.sum() / (general.mask.sum() + score.smoothing)
    assert total.item() == pytest.approx(score(general, specific).item())


def test_to_unit_keeps_the_order(score):
    unit = score.to_unit(torch.tensor([-2.0, -0.1, 0.0, 0.3, 2.0, 50.0]))
    assert unit.tolist() == sorted(unit.tolist())
    assert unit.min() >= 0
    assert unit.max() < 1


def test_what_matches_a_denied_fragment_counts_against_the_photo():
    """A dog but no cat: the dog alone is better than nothing, which is better than both."""
    score = FragmentAlignment(smoothing=0.0, best_region=True, signed=True)
    dog, cat = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    sentence = torch.stack([torch.cat([dog, dog[:1]]), torch.cat([cat, -dog[:1]])])[None]
    photos = [torch.stack([dog, dog]), torch.zeros(2, 2), torch.stack([cat, dog])]
    regions = torch.nn.functional.pad(torch.stack(photos), (0, 1))
    both = torch.ones(3, 2, dtype=torch.bool)
    row = score(Embeddings(sentence, both[:1]), Embeddings(regions, both))[0]
    assert row.tolist() == [0.5, 0.0, 0.0]
    more = Embeddings(torch.cat([sentence, sentence[:, 1:]], 1), torch.ones(1, 3) > 0)
    assert score(more, Embeddings(regions, both))[0, 2] < 0


def test_a_photo_without_regions_scores_0(score):
    general, none = sets(3, 4, 1), Embeddings(torch.zeros(1, 2, 3).double(), torch.zeros(1, 2) > 0)
    assert score(general, none).tolist() == [[0.0]] * 3


def test_equal_settings_share_a_score():
    one = fragment_alignment(smoothing=5.0, best_region=True)
    assert (one.smoothing, one.best_region) == (5.0, True)
    assert fragment_alignment(smoothing=5.0, best_region=True) is one
    assert fragment_alignment(smoothing=4.0, best_region=True) is not one


def alignment_by_loops(general, specific, infer: bool) -> float:
    """C_0 or C_F, a fragment and a region at a time."""
    total = 0.0
    for sentence in range(len(general)):
        for s in members(general, sentence):
            own, other = [], []
            for photo in range(len(specific)):
                same = LABELS[photo] == LABELS[sentence]
                (own if same else other).extend(float(v @ s) for v in members(specific, photo))
            right = own
            if infer:
                right = [a for a in own if a > 0] or [max(own)]
                other += [a for a in own if a not in right]
            total += sum(max(0.0, 1 - a) for a in right) / len(right)
            total += sum(max(0.0, 1 + a) for a in other) / len(other)
    return total / len(general)


def ranking_by_loops(table, margin: float) -> float:
    total, n = 0.0, len(table)
    for a in range(n):
        for b in range(n):
            if LABELS[a] != LABELS[b]:
                total += max(0.0, margin - table[a][a] + table[a][b])
                total += max(0.0, margin - table[a][a] + table[b][a])
    return total / n


@pytest.mark.parametrize("share", [0.0, 0.4999, 0.5, 1.0])
def test_the_loss_equals_plain_loops(score, share):
    general, specific = sets(4, 4, 1), sets(4, 3, 2)
    specific.x[2], specific.mask[2] = specific.x[0], specific.mask[0]  # the same photo
    loss = fragments(0.7, 2.0, 0.5, margin=1.0)
    parts = loss(score, general, specific, LABELS, share)
    aligned = alignment_by_loops(general, specific, infer=share >= 0.5)
    ranked = ranking_by_loops(by_loops(score, general, specific), 1.0)
    assert parts["fragments"].item() == pytest.approx(aligned)
    assert parts["ranking"].item() == pytest.approx(ranked)
    assert parts["loss"].item() == pytest.approx(0.7 * aligned + 2 * ranked)
    assert not parts["fragments"].requires_grad


def test_alignments_are_inferred_in_the_second_half(score):
    """C_0 pulls every region of the own photo to each fragment, C_F pushes some away."""
    general, specific = sets(4, 4, 1), sets(4, 5, 5)
    first, second = (alignment_by_loops(general, specific, infer) for infer in (False, True))
    assert abs(first - second) > 0.1
    loss = fragments(1.0, 0.0, 0.5, margin=1.0)
    for share, expected in [(0.0, first), (0.49, first), (0.5, second), (1.0, second)]:
        parts = loss(score, general, specific, LABELS, share)
        assert parts["loss"].item() == pytest.approx(expected)


def test_a_region_with_a_score_of_0_is_a_negative_unless_it_is_the_best(score):
    general = Embeddings(torch.eye(2)[:1, None], torch.tensor([[True]]))
    two = torch.tensor([[True, True]])
    loss = fragments(1.0, 0.0, 0.0, margin=1.0)
    beside_better = Embeddings(torch.tensor([[[2.0, 0.0], [0.0, 1.0]]]), two)
    parts = loss(score, general, beside_better, LABELS[:1], 1.0)
    assert parts["loss"] == 1  # 0 for the region with score 2, 1 for a negative with score 0
    beside_worse = Embeddings(torch.tensor([[[-3.0, 0.0], [0.0, 1.0]]]), two)
    parts = loss(score, general, beside_worse, LABELS[:1], 1.0)
    assert parts["loss"] == 1  # 1 for a positive with score 0, 0 for a negative with score -3


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_gradients(score, share):
    general, specific = sets(4, 3, 1), sets(4, 3, 2)
    loss = fragments(1.0, 1.0, 0.5, margin=1.0)

    def run(*real):
        embeddings = []
        for values, like in zip(real, (general, specific), strict=True):
            x = torch.zeros_like(like.x).masked_scatter(like.mask[..., None], values)
            embeddings.append(Embeddings(x, like.mask))
        return loss(score, *embeddings, LABELS, share)["loss"]

    inputs = [e.x[e.mask].clone().requires_grad_() for e in (general, specific)]
    assert torch.autograd.gradcheck(run, inputs)


def test_half_precision_hardly_changes_loss_and_gradient(score, monkeypatch):
    """The products of fragments and regions are what a training takes longest for."""
    losses, gradients = [], []
    for fast in (torch.float32, torch.bfloat16):
        monkeypatch.setattr(device, "fast_dtype", lambda fast=fast: fast)
        general, specific = (
            Embeddings(of.x.float().requires_grad_(), of.mask)
            for of in (sets(4, 4, 1, dim=64), sets(4, 3, 2, dim=64))
        )
        loss = fragments(1.0, 1.0, 0.5, margin=1.0)(score, general, specific, LABELS, 0.0)["loss"]
        loss.backward()
        losses.append(loss.item())
        gradients.append(torch.cat([of.x.grad.flatten() for of in (general, specific)]))
    assert losses[1] == pytest.approx(losses[0], rel=0.01)
    assert losses[1] != losses[0]
    assert torch.cosine_similarity(*gradients, dim=0) > 0.999


def test_a_configuration_chooses_the_loss(score):
    general, specific = sets(4, 4, 1), sets(4, 3, 2)
    _, config = preset("fragments")
    config = override(config, ["fragment_weight=0", "ranking_weight=3", "margin=0.5", "hardest=0"])
    loss = build(config)(score, general, specific, LABELS, 0.0)["loss"]
    expected = fragments(0, 3, 1, 0.5)(score, general, specific, LABELS, 0.0)["loss"]
    assert loss.item() == pytest.approx(expected.item())
    with pytest.raises(TypeError, match="fragments"):
        build(config)(scores.SCORES["cosine"], general, specific, LABELS, 0.0)
