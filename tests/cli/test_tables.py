"""`python -m vsdemo table`: for people, for programs, and bad input."""

import json

import pytest


def test_table_for_people_and_for_programs(run, toy_checkpoint):
    code, told, errors = run("table", toy_checkpoint, "--split", "dev")
    assert (code, errors) == (0, "")
    assert told.startswith("| row | runs | i2t R@1 | i2t R@5 |")
    _, told, _ = run("table", toy_checkpoint, "--task", "similarity", "--json")
    found = json.loads(told)
    (row,) = found["rows"].values()
    assert (found["task"], found["split"], row["n"]) == ("similarity", "test", 1)
    assert row["meanr"]["mean"] == found["runs"][0]["figures"]["meanr"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Missing argument"),
        (("{toy}", "{none}"), "There is no checkpoint at"),
        (("{toy}", "--against", "order"), "There is no row 'order'"),
        (("{toy}", "--split", "val"), "There is no split 'val'"),
        (("{toy}", "--task", "captioning"), "There is no task 'captioning'"),
    ],
)
def test_bad_input_gets_one_sentence(run, toy_checkpoint, tmp_path, words, told):
    code, out, errors = run(
        "table", *(w.format(toy=toy_checkpoint, none=tmp_path / "none") for w in words)
    )
    assert (code, out) == (2, "")
    assert errors.startswith("vsdemo: ")
    assert told in errors
    assert errors.count("\n") == 1
