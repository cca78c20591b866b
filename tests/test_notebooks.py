"""The notebooks run from top to bottom on what ships, without network."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.xdist_group("storybook")  # with the lessons: the same drawn pictures
FOLDER = Path(__file__).parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["alignment", "order", "retrieval"]


@pytest.mark.filterwarnings("ignore")  # of Jupyter's sockets and event loops
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.delenv("VSDEMO_DATA")
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parents[1]))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # nothing goes stale
    NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()
