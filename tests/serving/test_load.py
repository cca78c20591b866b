"""The load test: what it measures, and that it ends with the app stopped."""

import json
import subprocess
import sys

import psutil
import pytest

from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.serving import load
from vsdemo.serving.load import Measurements


def test_percentiles():
    times = [number / 100 for number in range(101)]
    assert load._quantiles(times) == {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    assert load._quantiles([2.0]) == {"p50": 2.0, "p95": 2.0, "p99": 2.0}
    assert load._quantiles([]) == {"p50": 0.0, "p95": 0.0, "p99": 0.0}


def test_memory_is_the_highest_of_a_time():
    measurements = Measurements(memory=[(0, 10.0), (30, 50.0), (61, 20.0), (119, 30.0)])
    assert measurements.peak(0, 60) == 50.0
    assert measurements.peak(60, 120) == 30.0
    assert measurements.peak(200, 300) == 0.0


@pytest.mark.long
def test_an_app_that_does_not_start_is_reported(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("VSDEMO_HOME", str(blocked))
    with pytest.raises(UserError, match="The app did not start"), load.serve():
        pass


@pytest.mark.long
def test_a_short_load_has_no_errors(real_home):
    command = [sys.executable, "-m", "vsdemo", "bench", "app", "--clients", "8", "--seconds", "10"]
    result = subprocess.run([*command, "--json"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["errors"] == 0, report["first_error"]
    assert report["requests"] == sum(kind["requests"] for kind in report["kinds"].values())
    assert 0 < report["p50"] <= report["p95"] <= report["p99"] < 5
    assert not [p for p in psutil.Process().children(recursive=True) if "app.py" in p.cmdline()]


@pytest.fixture
def real_home(tmp_path, monkeypatch):
    """A fresh machine without data sets."""
    monkeypatch.delenv("VSDEMO_DATA", raising=False)
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
