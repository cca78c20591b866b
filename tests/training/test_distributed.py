"""Several ranks learn and measure what one process does, end together and resume."""

import os
import signal
import time

import psutil
import pytest
import torch

from tests.support import rank_runs
from tests.support.small_runs import SETTINGS, logged, trainer
from tests.training.test_trainer_resume import assert_same_run
from vsdemo.core import events
from vsdemo.core.nested import flatten
from vsdemo.training import distributed

STEPS = 6
SMALL = (
    "backbone=torchvision/mobilenet_v3_small",
    "crops=center",
    "dim=16",
    "word_dim=8",
    "min_count=1",
    "batch_size=9",  # not divisible by two
    "learning_rate=0.003",
    "dropout=0",
)
TUNED = (
    *(
        "backbone=pocket",
        "crops=whole",
        "epochs=2",
        "text_epochs=0",
        "frozen_epochs=1",
        "captions=2",
    ),
    *("phrase_weight=0", "pair_weight=0", "end_dropout=0", "windows=false", "hub_bank=40"),
)
RUNS = [
    ("gru", "toy", *SMALL),
    ("order", "toy", *SMALL),
    ("fragments", "toy", *SMALL, "crops=windows", "vectors=learned", "mil_start=0"),
    ("gru", "toy", *SMALL, "chunk=2", "average_decay=0.9"),
    ("bow", "toy", *SMALL, "batch_size=3", "loss=squared", "alternate_epochs=1"),
]
LONG = ("epochs=30", "patience=30")


def assert_same_training(runs, several, one_process) -> None:
    for run, result, alone in zip(runs, several, one_process, strict=True):
        assert result.losses.dtype == torch.float64
        assert len(result.losses) == STEPS
        assert torch.allclose(result.losses, alone.losses, rtol=1e-9, atol=0), run
        weights, expected = result.weights, alone.weights
        assert weights.keys() == expected.keys()
        wrong = [k for k, w in weights.items() if not torch.allclose(w, expected[k], atol=1e-9)]
        assert wrong == [], run


def assert_same_measurement(runs, several, one_process, ranks: int) -> None:
    """The same figures, of which no rank has embedded more than its share."""
    for run, result, alone in zip(runs, several, one_process, strict=True):
        values, expected = flatten(result.metrics), flatten(alone.metrics)
        assert values
        assert values == pytest.approx(expected, rel=0, abs=1e-6), run
        assert result.metrics.get("watched") == alone.metrics.get("watched"), run
        assert result.embedded <= alone.embedded / ranks + 2, run  # two calls, rounded up


@pytest.fixture(scope="module")
def one_process(own_folders, tmp_path_factory):
    return rank_runs.train(1, tmp_path_factory.mktemp("one"), RUNS, STEPS)


@pytest.mark.long
@pytest.mark.parametrize("ranks", [2, 5])
def test_ranks_learn_and_measure_what_one_process_does(one_process, tmp_path, ranks):
    """Also if some ranks have no items of a batch."""
    several = rank_runs.train(ranks, tmp_path, RUNS, STEPS)
    assert_same_training(RUNS, several, one_process)
    assert_same_measurement(RUNS, several, one_process, ranks)


@pytest.mark.long
def test_ranks_tune_an_image_network(own_folders, tmp_path):
    """Its weights have another memory format."""
    runs = [("vse_photos", "toy", *SMALL, *TUNED)]
    one, two = (rank_runs.train(ranks, tmp_path / str(ranks), runs, STEPS) for ranks in (1, 2))
    assert_same_training(runs, two, one)
    assert_same_measurement(runs, two, one, ranks=2)


@pytest.mark.long
def test_ranks_learn_from_sentence_pairs(pairs_root, tmp_path):
    runs = [("order/entailment", None, *SMALL[2:])]
    one, two = (rank_runs.train(ranks, tmp_path / str(ranks), runs, STEPS) for ranks in (1, 2))
    assert_same_training(runs, two, one)
    assert_same_measurement(runs, two, one, ranks=2)


def sentences(errors: str) -> list[str]:
    """Return what vsdemo itself says among the output of torchrun."""
    return [line for line in errors.splitlines() if line.startswith("vsdemo: ")]


@pytest.mark.long
def test_ranks_with_different_data_are_an_error(own_folders, tmp_path):
    program = rank_runs.program(2, tmp_path, RUNS[:1], STEPS)
    code, errors = rank_runs.end(rank_runs.start(program, **{rank_runs.OTHER_DATA: "1"}))
    assert code
    (sentence,) = sentences(errors)
    assert sentence.startswith("vsdemo: Rank 1 has other data or settings than rank 0; ")


def command(ranks: int, out, *settings: str) -> list[str]:
    """Return the command that trains `gru` on `toy`."""
    of_run = [f"--set={setting}" for setting in (*SETTINGS, *settings)]
    return rank_runs.command(
        ranks, "-m", "vsdemo", "train", "gru", "--data=toy", f"--out={out}", *of_run
    )


def train(ranks: int, out, *settings: str) -> None:
    code, errors = rank_runs.end(rank_runs.start(command(ranks, out, *settings)))
    assert code == 0, errors


def started(out, *settings: str):
    """Start two ranks, and wait for two evaluations."""
    process = rank_runs.start(command(2, out, *settings))
    while process.poll() is None and len(logged(out, "eval")) < 2:
        time.sleep(0.005)
    assert process.poll() is None, process.communicate()
    return process


@pytest.fixture(scope="module")
def uninterrupted(own_folders, tmp_path_factory):
    out = tmp_path_factory.mktemp("two") / "run"
    train(2, out, *LONG)
    return out


@pytest.mark.long
@pytest.mark.parametrize("rank", [0, 1])
def test_all_ranks_end_if_one_is_killed_and_resume_exactly(tmp_path, uninterrupted, rank):
    out = tmp_path / "run"
    process = started(out, *LONG)
    (killed,) = (
        child
        for child in psutil.Process(process.pid).children()
        if child.environ().get("RANK") == str(rank)
    )
    killed.kill()
    code, errors = rank_runs.end(process)
    assert code
    assert len(sentences(errors)) == 1, errors
    assert "run the same command to resume" in errors
    assert errors.count("Traceback") == 1  # that of torchrun
    assert logged(out, "done") == []
    train(2, out, *LONG)
    assert_same_run(out, uninterrupted)


@pytest.mark.long
def test_stopped_ranks_save_and_resume_exactly(tmp_path, uninterrupted):
    out = tmp_path / "run"
    process = started(out, *LONG)
    process.terminate()
    _, errors = rank_runs.end(process)
    assert sentences(errors) == []
    *_, last = events.read(out / "events.jsonl")
    assert last["kind"] == "stopped"
    train(2, out, *LONG)
    assert_same_run(out, uninterrupted)


@pytest.mark.long
def test_one_process_goes_on_with_a_run_of_two_ranks(tmp_path):
    """Without dropout, the losses are the same as if one process had begun it."""
    settings = ("epochs=6", "dropout=0")
    process = started(tmp_path / "two", *settings)
    os.kill(process.pid, signal.SIGINT)
    _, errors = rank_runs.end(process)
    *_, last = events.read(tmp_path / "two" / "events.jsonl")
    assert last["kind"] == "stopped", errors
    for out in ("two", "one"):
        assert trainer(tmp_path / out, *settings).run() == "done"
    losses = [[event["loss"] for event in logged(tmp_path / out, "step")] for out in ("one", "two")]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)


@pytest.mark.long
def test_a_model_without_parts_is_refused(own_folders, tmp_path):
    words = ("-m", "vsdemo", "train", "hypernyms/toy", "--data=toy", f"--out={tmp_path / 'run'}")
    code, errors = rank_runs.end(rank_runs.start(rank_runs.command(2, *words)))
    assert code
    (sentence,) = sentences(errors)
    assert sentence.endswith("start it without torchrun.")
    assert not (tmp_path / "run").exists()


def test_shares_are_a_partition_of_a_batch():
    for items in range(1, 12):
        for ranks in range(1, 8):
            shares = [distributed._share(items, rank, ranks) for rank in range(ranks)]
            assert [n for share in shares for n in range(items)[share]] == list(range(items))
            sizes = [share.stop - share.start for share in shares]
            assert max(sizes) - min(sizes) <= 1
