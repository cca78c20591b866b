"""The notebooks run from top to bottom on what ships, without network."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.xdist_group("storybook")  # with the lessons: the same drawn pictures
FOLDER = Path(__file__).parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["alignment", "order", "retrieval"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.delenv("VSDEMO_DATA")
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parents[1]))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # nothing goes stale
    # As a process: Jupyter leaves sockets and event loops behind.
    copy = shutil.copy(path, tmp_path)
    command = [sys.executable, "-m", "jupyter", "execute", "--timeout=240", copy]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
