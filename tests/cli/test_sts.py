"""`sts`, `sentences` and `evaluate --task sts`, which need no photos."""

import json
import re

import pytest


def test_sts_prints_a_table_and_draws_bars(pairs_root, toy_checkpoint, run, tmp_path):
    code, printed, errors = run("evaluate", toy_checkpoint, "--task", "sts", "--json")
    assert (code, errors) == (0, "")
    metrics = json.loads(printed)
    assert metrics["STS-B"].keys() == {"pearson", "spearman", "ci95", "n", "n_unknown"}
    code, printed, _ = run("sts", toy_checkpoint, "--svg", tmp_path / "bars.svg")
    assert code == 0
    svg = (tmp_path / "bars.svg").read_text()
    assert all(name in svg for name in metrics if name.startswith(("STS", "SICK")))
    code, printed, _ = run("sts", toy_checkpoint)
    lines = printed.splitlines()
    assert lines[0].endswith("| InferSent | char-GRU (Flickr8k) | char-GRU (COCO) |")
    assert {line.count("|") for line in lines} == {8}
    cells = {line.split("|")[1].strip(): line.split("|")[-3].strip() for line in lines[2:]}
    assert cells["STS12.MSRvid"] == "79.9"
    assert cells["STS12"] == f"{(79.9 + 67.5) / 2:.1f}"
    assert (cells["STS-B"], cells["STS-B.cosine"]) == ("72.2", "")
    _, printed, _ = run("table", toy_checkpoint, "--task", "sts")
    assert re.match(r"\| row \| runs \| STS-B pearson \| SICK-R pearson \| STS12 pearson", printed)


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("--task", "sts", "--data", "toy"), "has its own data; leave --data out"),
        (("--task", "sts", "--sts-dir", "/none"), "There is no folder /none"),
        (("--task", "sts", "--split", "all"), "on dev or test, not on all"),
        (("--task", "retrieval", "--sts-dir", "/none"), "leave --sts-dir out"),
        (("--task", "nli", "--sts-dir", "/none"), "leave --sts-dir out"),
    ],
)
def test_bad_options_are_refused(pairs_root, toy_checkpoint, run, words, printed):
    code, out, errors = run("evaluate", toy_checkpoint, *words)
    assert (code, out) == (2, "")
    assert printed in errors
    assert errors.count("\n") == 1


def test_sts_refuses_the_same_checkpoint_twice(pairs_root, toy_checkpoint, run):
    code, _, errors = run("sts", toy_checkpoint, toy_checkpoint)
    assert code == 2
    assert "is given twice" in errors


def test_sentences_compares_two_sentences(toy_checkpoint, run):
    code, printed, errors = run("sentences", "a red circle", "one circle", toy_checkpoint)
    assert (code, errors) == (0, "")
    assert printed.splitlines()[1].endswith(str(toy_checkpoint))
    code, printed, _ = run("sentences", "a red circle", "one circle", toy_checkpoint, "--json")
    (comparison,) = json.loads(printed)["models"].values()
    assert -1 <= comparison["cosine"] <= 1


@pytest.mark.parametrize("words", [("", "a dog"), ("a dog", "a\x00b"), ("犬", "a red circle")])
def test_bad_sentences_are_refused(toy_checkpoint, run, words):
    code, printed, errors = run("sentences", *words, toy_checkpoint)
    assert (code, printed, len(errors.strip().splitlines())) == (2, "", 1)
