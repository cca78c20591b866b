"""`import vsdemo`: quick, and with the names that its docstring promises."""

import subprocess
import sys

import vsdemo
from vsdemo.core.paths import ROOT

HEAVY = {"torch", "gradio", "numpy", "PIL", "pydantic", "huggingface_hub", "mteb"}


def test_the_import_loads_no_library():
    code = "import sys, vsdemo; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT)
    assert set(loaded.split()) & HEAVY == set()


def test_its_functions_are_documented():
    assert set(vsdemo.__all__) == {"UserError", "load", "mteb_encoder", "save_to_hub"}
    for name in vsdemo.__all__:
        assert getattr(vsdemo, name).__doc__
        assert name in (ROOT / "README.md").read_text(encoding="utf-8")
