from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.core.config import Config, settings_of
from vsdemo.training.schedule import LOWEST, epoch_batches, learning_rate

STEPS = 10  # an epoch
BASE = Config(learning_rate=0.01, epochs=8, cycle_epochs=4)
LOW = 0.01 * LOWEST


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        ("constant", {0: 0.01, 40: 0.01, 79: 0.01}),
        ("cosine", {0: 0.01, 40: (0.01 + LOW) / 2, 80: LOW, 95: LOW}),
        ("cyclic", {0: LOW, 10: (0.01 + LOW) / 2, 20: 0.01, 40: LOW, 60: 0.01, 80: LOW}),
        ("step", {0: 0.01, 39: 0.01, 40: 0.001, 79: 0.001, 80: 0.0001}),
    ],
)
def test_rates_at_the_start_middle_and_end_of_a_schedule(schedule, rates):
    config = BASE.model_copy(update={"schedule": schedule})
    for step, rate in rates.items():
        assert learning_rate(config, step, STEPS) == pytest.approx(rate), step


def test_every_schedule_has_a_rate_and_an_unknown_one_is_an_error():
    choices = settings_of(BASE)["schedule"].choices
    for name in choices:
        config = BASE.model_copy(update={"schedule": name})
        assert all(0 < learning_rate(config, s, STEPS) <= 0.01 for s in range(80))
    with pytest.raises(ValueError, match="linear"):
        learning_rate(BASE.model_copy(update={"schedule": "linear"}), 0, STEPS)


def test_warmup_rises_to_the_highest_rate():
    config = BASE.model_copy(update={"warmup": 4})
    rates = [learning_rate(config, s, STEPS) for s in range(6)]
    assert rates == pytest.approx([0.0025, 0.005, 0.0075, 0.01, 0.01, 0.01])


# Numbers of captions of each photo, from 0 to 5; at least one photo has a caption.
caption_counts = st.lists(st.integers(0, 5), min_size=1, max_size=12).filter(any)


def captions_of_photos(counts: list[int]) -> list[list[int]]:
    captions = iter(range(sum(counts)))
    return [[next(captions) for _ in range(n)] for n in counts]


@given(caption_counts, st.integers(1, 6), st.sampled_from(["one", "all"]), st.integers(0, 9))
def test_an_epoch_has_full_batches_without_repetition(counts, batch_size, sampling, epoch):
    captions_of = captions_of_photos(counts)
    config = Config(sampling=sampling).model_copy(update={"batch_size": batch_size})
    batches = epoch_batches(config, captions_of, epoch)
    drawn = torch.cat(batches).tolist()
    photo_of = {c: p for p, captions in enumerate(captions_of) for c in captions}

    assert len(set(drawn)) == len(drawn)
    assert set(drawn) <= set(photo_of)
    possible = sum(map(bool, counts)) if sampling == "one" else sum(counts)
    if possible >= batch_size:
        assert [len(b) for b in batches] == [batch_size] * (possible // batch_size)
    else:
        assert [len(b) for b in batches] == [possible]
    if sampling == "one":
        assert max(Counter(photo_of[c] for c in drawn).values()) == 1


@given(caption_counts, st.integers(0, 2**32 - 1), st.integers(0, 1000))
def test_batches_depend_on_the_seed_and_the_epoch_only(counts, seed, epoch):
    config = Config(batch_size=2, seed=seed)
    first = epoch_batches(config, captions_of_photos(counts), epoch)
    torch.manual_seed(epoch)  # the global generator has no effect
    again = epoch_batches(config, captions_of_photos(counts), epoch)
    assert [b.tolist() for b in first] == [b.tolist() for b in again]


@given(caption_counts, st.integers(1, 6), st.integers(2, 4), st.integers(0, 99), st.randoms())
def test_a_bucket_only_reorders_the_captions(counts, batch_size, bucket, epoch, random):
    captions_of = captions_of_photos(counts)
    lengths = [random.randint(1, 20) for _ in range(sum(counts))]
    plain = Config(sampling="all").model_copy(update={"batch_size": batch_size})
    config = plain.model_copy(update={"bucket": bucket})
    batches = epoch_batches(config, captions_of, epoch, lengths)
    expected = epoch_batches(plain, captions_of, epoch)
    assert [len(b) for b in batches] == [len(b) for b in expected]
    assert sorted(torch.cat(batches).tolist()) == sorted(torch.cat(expected).tolist())
    torch.manual_seed(epoch)  # the global generator has no effect
    again = epoch_batches(config, captions_of, epoch, lengths)
    assert [b.tolist() for b in batches] == [b.tolist() for b in again]


def test_a_bucket_reduces_padding():
    captions_of = captions_of_photos([5] * 200)
    lengths = [7 * c % 101 for c in range(1000)]
    config = Config(batch_size=10, sampling="all")

    def padding(config) -> int:
        batches = epoch_batches(config, captions_of, 0, lengths)
        most = [max(lengths[c] for c in b) for b in batches]
        assert most != sorted(most)  # long and short batches are mixed
        return sum(m * len(b) for m, b in zip(most, batches, strict=True)) - sum(lengths)

    assert padding(config.model_copy(update={"bucket": 20})) < padding(config) / 5
    orders = [
        epoch_batches(config.model_copy(update={"bucket": 20}), captions_of, e, lengths)
        for e in (0, 1)
    ]
    assert not torch.equal(torch.cat(orders[0]), torch.cat(orders[1]))


@pytest.mark.parametrize("sampling", ["one", "all"])
def test_batches_differ_by_seed_and_epoch(sampling):
    captions_of = captions_of_photos([5] * 20)
    config = Config(batch_size=10, sampling=sampling)
    orders = [
        torch.cat(epoch_batches(config.model_copy(update={"seed": s}), captions_of, e)).tolist()
        for s in (0, 1)
        for e in (0, 1, 2)
    ]
    assert len({tuple(o) for o in orders}) == 6


def test_sampling_one_draws_each_caption_of_a_photo_equally_often():
    captions_of = captions_of_photos([4] * 50)
    config = Config(batch_size=50)
    drawn = torch.cat([b for e in range(100) for b in epoch_batches(config, captions_of, e)])
    shares = torch.bincount(drawn % 4) / len(drawn)
    assert shares.tolist() == pytest.approx([0.25] * 4, abs=0.03)  # 5 standard errors
