"""The comparison with rclip: commands are run anew each time, and what is missing is said."""

import sys

import pytest

from vsdemo.core.errors import UserError
from vsdemo.search import rclip_bench
from vsdemo.search.rclip_bench import Program

RESULT = {
    "photos": 300,
    "programs": {
        "vsdemo": {"indexed": 12.34, "search": 1.5, "query": 30.0},
        "rclip": {"indexed": 6.17, "search": 3.0, "query": 15.0},
    },
    "index_ratio": 2.0,
    "search_ratio": 2.0,
    "query_ratio": 0.5,
    "app_search": 0.3,
    "app_ratio": 10.0,
    "cores": 2,
    "loads": [0.5, 1.2],
}


def program(folder, code="open('index', 'x'); print('done')"):
    command = [sys.executable, "-c", code]
    return Program(command, [*command[:2], "open('index')"], [folder / "index"], folder, {"A": "b"})


def test_the_photos_are_indexed_anew_each_time(tmp_path):
    measured = program(tmp_path)
    measured.measure()
    measured.measure()
    assert len(measured.index_seconds) == len(measured.search_seconds) == 2
    assert min(measured.index_seconds + measured.search_seconds) > 0
    assert measured.run([sys.executable, "-c", "import os; print(os.environ['A'])"]) == "b\n"


def test_a_program_that_fails_is_one_sentence(tmp_path, is_one_sentence):
    with pytest.raises(UserError, match="no space") as caught:
        program(tmp_path, code="raise SystemExit('no space.')").measure()
    assert is_one_sentence(caught)


def test_a_missing_rclip_is_one_sentence(run, tmp_path):
    (tmp_path / "rclip").write_text("no program")
    for path in (tmp_path / "rclip", tmp_path / "gone", tmp_path):
        code, _, err = run("bench", "index", "--rclip", path)
        assert code == 2
        assert "pip install rclip" in err
        assert err.count("\n") == 1


def test_a_comparison_is_a_table(run, monkeypatch):
    monkeypatch.setattr(rclip_bench, "measure", lambda *args: RESULT)
    code, out, _ = run("bench", "index", "--photos", 300, "--rclip", "rclip")
    assert code == 0
    assert out.splitlines()[0] == "300 photos of 12 megapixels, 2 cores, load 0.5, 1.2"
    assert out.splitlines()[2].split() == ["vsdemo", "12.3", "1.50", "30.0"]
    assert out.splitlines()[-2].split() == ["times", "as", "fast", "2.00", "2.00", "0.50"]
    assert out.splitlines()[-1] == "A search by a running app: 0.30 s, 10.00 times as fast"
