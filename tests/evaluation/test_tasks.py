"""Every registered task, and a task registered from outside."""

from dataclasses import fields

import pytest

from vsdemo.core.errors import UserError
from vsdemo.evaluation import cards, evaluate
from vsdemo.evaluation.task import NEEDS
from vsdemo.evaluation.tasks import TASKS, task
from vsdemo.models.licences import UNKNOWN


@pytest.fixture
def count_task(monkeypatch):
    monkeypatch.setitem(TASKS, "count", "tests.support.toy_task:CountPhotos")


def check_declarations(name: str) -> None:
    kind = type(task(name))
    assert kind.name == name
    assert kind.needs
    assert kind.needs <= NEEDS
    assert kind.primary
    assert kind.__doc__
    assert {field.name for field in fields(kind)} == kind.options


@pytest.mark.parametrize("name", TASKS)
def test_task_declares_itself(name):
    check_declarations(name)


def test_registered_task_declares_itself(count_task):
    check_declarations("count")


def test_registered_task_is_evaluated(count_task, toy_checkpoint):
    result = evaluate.evaluate(toy_checkpoint, "dev", task_name="count", options={"times": 2})
    assert result == {
        "checkpoint": str(toy_checkpoint),
        "dataset": "toy",
        "split": "dev",
        "task": "count",
        "photos": 16,
        "n": 8,
    }


def test_registered_task_has_a_table(count_task):
    table = task("count").table({"dev": {"photos": 8.0, "n": 8}})
    assert table.splitlines() == ["| split | photos | n |", "|---|---|---|", "| dev | 8.0 | 8.0 |"]


def test_registered_task_is_a_valid_name(count_task, run, toy_checkpoint):
    code, printed, _ = run("evaluate", toy_checkpoint, "--task", "count", "--split", "dev")
    assert code == 0
    assert '"photos": 8.0' in printed
    code, _, errors = run("evaluate", toy_checkpoint, "--task", "captioning")
    assert code == 2
    assert "use one of retrieval, first_captions" in errors
    assert "count" in errors


def test_unknown_option_names_the_tasks_that_have_it(count_task):
    message = "The task sts has no option times, which is for count; leave --times out."
    with pytest.raises(UserError, match=message):
        task("sts", times=3)
    with pytest.raises(UserError, match="no option speed, which is for no task"):
        task("sts", speed=3)


def test_document_leaves_out_empty_paragraphs():
    paragraphs = ["One.", "", "Two."]
    text = cards.document("name", tags=["a", "b"], licence=UNKNOWN, paragraphs=paragraphs)
    assert text == "---\nlibrary_name: vsdemo\ntags: [a, b]\n---\n# name\n\nOne.\n\nTwo.\n"
