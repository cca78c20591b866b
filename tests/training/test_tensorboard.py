"""Files for TensorBoard, read with TensorBoard's own reader."""

import sys

import pytest

from tests.support.small_runs import EPOCH, SETTINGS, logged, stopped_at
from vsdemo.core import events
from vsdemo.core.errors import UserError
from vsdemo.core.events import EventLog
from vsdemo.training.tensorboard import FOLDER, Board, numbers

pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of TensorBoard's imports


def scalars(out) -> dict[str, dict[int, float]]:
    """Return tag -> step -> value, as TensorBoard displays it."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    accumulator = EventAccumulator(str(out / FOLDER))
    accumulator.Reload()
    tags = accumulator.Tags()["scalars"]
    return {tag: {e.step: e.value for e in accumulator.Scalars(tag)} for tag in tags}


@pytest.fixture
def log(tmp_path):
    log = EventLog(tmp_path / "events.jsonl")
    log.listeners.append(Board(tmp_path))
    return log


def test_every_number_is_written(log, tmp_path):
    log.write("start", 0, steps=100, config={"dim": 16}, preset="gru", watched=[{"fits": [1.0]}])
    log.write("step", 1, loss=0.5, learning_rate=0.001)
    log.write("step", 10, loss=0.25, learning_rate=0.001)
    log.write("eval", 15, rsum=300.0, i2t={"r1": 20.0}, own=None, ok=True, split="dev")
    assert scalars(tmp_path) == {
        "start/steps": {0: 100.0},
        "step/loss": {1: 0.5, 10: 0.25},
        "step/learning_rate": {1: pytest.approx(0.001), 10: pytest.approx(0.001)},
        "eval/rsum": {15: 300.0},
        "eval/i2t.r1": {15: 20.0},
    }


def test_repeated_steps_of_a_killed_run_replace_the_old_ones(log, tmp_path):
    log.rewind(0)
    for step in (10, 20, 30, 40):
        log.write("step", step, loss=step / 10)
    log.write("eval", 40, rsum=1.0)
    again = EventLog(log.path)  # another process, which resumes at step 20
    again.listeners.append(Board(tmp_path))
    again.rewind(20)
    again.write("step", 30, loss=7.0)
    again.write("eval", 30, rsum=2.0)
    assert scalars(tmp_path) == {
        "step/loss": {10: 1.0, 20: 2.0, 30: 7.0},
        "eval/rsum": {30: 2.0},
    }
    assert [e["step"] for e in events.read(log.path)] == [10, 20, 30, 30]


def test_numbers_flattens_the_numbers_of_an_event():
    event = {"step": 3, "time": 1.5, "loss": 2, "text": "x", "none": None, "list": [1]}
    event |= {"config": {"dim": 3}, "a": {"b": {"time": 4.0}, "step": 5}}
    assert numbers(event) == {"loss": 2.0, "a.b.time": 4.0, "a.step": 5.0}


def test_a_resumed_run_has_the_numbers_of_its_events(run, tmp_path):
    settings = [f"--set={s}" for s in (*SETTINGS, "epochs=2")]
    words = ["train", "gru", "--data=toy", "--out", tmp_path, *settings]
    with stopped_at(EPOCH + 3):
        code, _, errors = run(*words, "--tensorboard")
    assert code == 0, errors
    code, _, errors = run(*words, "--tensorboard")  # resumes
    assert code == 0, errors
    written = scalars(tmp_path)
    evals = logged(tmp_path, "eval")
    assert written["eval/rsum"] == {e["step"]: pytest.approx(e["rsum"]) for e in evals}
    assert written["eval/t2i.r10"] == {e["step"]: pytest.approx(e["t2i"]["r10"]) for e in evals}
    steps = {e["step"]: pytest.approx(e["loss"]) for e in logged(tmp_path, "step")}
    assert written["step/loss"] == steps


def test_a_missing_tensorboard_is_a_user_error(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(UserError, match="needs TensorBoard: run `pip install tensorboard`"):
        Board(tmp_path)
    settings = [f"--set={s}" for s in (*SETTINGS, "epochs=1")]
    words = ["train", "gru", "--data=toy", "--out", tmp_path, *settings]
    code, printed, errors = run(*words, "--tensorboard")
    assert (code, printed) == (2, "")
    assert errors.splitlines()[-1].startswith("vsdemo: --tensorboard needs TensorBoard:")
    assert logged(tmp_path, "start") == []
    code, _, errors = run(*words)
    assert code == 0, errors
    assert not (tmp_path / FOLDER).exists()
