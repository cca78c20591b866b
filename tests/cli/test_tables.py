"""`python -m vsdemo table`."""

import json

import pytest


def test_table_prints_markdown_or_json(run, toy_checkpoint):
    code, printed, errors = run("table", toy_checkpoint, "--split", "dev")
    assert (code, errors) == (0, "")
    assert printed.startswith("| row | runs | i2t R@1 | i2t R@5 |")
    _, printed, _ = run("table", toy_checkpoint, "--task", "similarity", "--json")
    report = json.loads(printed)
    (row,) = report["rows"].values()
    assert (report["task"], report["split"], row["n"]) == ("similarity", "test", 1)
    assert row["meanr"]["mean"] == report["runs"][0]["figures"]["meanr"]


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ((), "Missing argument"),
        (("{toy}", "{none}"), "There is no checkpoint at"),
        (("{toy}", "--against", "order"), "There is no row 'order'"),
        (("{toy}", "--split", "val"), "There is no split 'val'"),
        (("{toy}", "--task", "captioning"), "There is no task 'captioning'"),
    ],
)
def test_bad_input_is_refused(run, toy_checkpoint, tmp_path, words, printed):
    code, out, errors = run(
        "table", *(w.format(toy=toy_checkpoint, none=tmp_path / "none") for w in words)
    )
    assert (code, out) == (2, "")
    assert errors.startswith("vsdemo: ")
    assert printed in errors
    assert errors.count("\n") == 1
