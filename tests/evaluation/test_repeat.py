"""Figures of the page are repeated by the commands that it names."""

import json
import random
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from vsdemo.evaluation.report import records, repeat

CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"
DRAWN = 10


def head() -> str:
    """Return the commit of this checkout, which is the seed of the draw."""
    command = ["git", "-C", str(CHECKPOINTS.parent), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_ten_commands_of_the_page_give_its_figures(real_data, tmp_path):
    known = repeat.repeatable(CHECKPOINTS)
    problems = {}
    for number, key in enumerate(random.Random(head()).sample(sorted(known), DRAWN)):
        record, file = known[key], tmp_path / f"{number}.json"
        words = shlex.split(record.command)[3:]
        words = [word for word in words if word != "--json"]
        command = [sys.executable, "-m", "vsdemo", *words, "--record", str(file)]
        done = subprocess.run(
            command, cwd=CHECKPOINTS.parent, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (record.command, done.stderr[-500:])
        by_split = not key.startswith("results/")  # metrics that ship with the weights
        figures = record.figures["test"] if by_split else record.figures
        differing = repeat.disagreements(figures, records.read(file).figures)
        print(f"{record.command}: {len(differing)} figures differ", flush=True)
        if differing:
            problems[record.command] = differing
    assert not problems


def test_every_drawn_command_is_about_what_ships():
    known = repeat.repeatable(CHECKPOINTS)
    assert len(known) > 60
    for key, record in known.items():
        assert record.command.startswith(repeat.PROGRAM), key
        assert "&&" not in record.command, key
        assert (CHECKPOINTS / record.checkpoint).is_dir(), key


FIGURES = {
    "rsum": 300.0,
    "t2i": {"r1": 20.0, "medr": 3.0, "meanr": 50.0, "ci95": {"r1": [10.0, 30.0]}},
    "n": 1000,
}


@pytest.mark.parametrize(
    ("names", "value", "problems"),
    [
        (("rsum",), 301.4, 0),
        (("rsum",), 301.6, 1),
        (("t2i", "r1"), 20.49, 0),
        (("t2i", "r1"), 19.4, 1),
        (("t2i", "medr"), 4.0, 0),
        (("t2i", "medr"), 5.5, 1),
        (("t2i", "meanr"), 50.9, 0),
        (("t2i", "meanr"), 48.9, 1),
        (("t2i", "ci95"), {"r1": [0.0, 1.0]}, 0),
        (("t2i",), {}, 3),
        (("n",), 1019, 0),
        (("n",), 1100, 1),
    ],
)
def test_figures_agree_within_the_stated_tolerance(names, value, problems):
    repeated = json.loads(json.dumps(FIGURES))
    inner = repeated
    for name in names[:-1]:
        inner = inner[name]
    inner[names[-1]] = value
    assert len(repeat.disagreements(FIGURES, repeated)) == problems
