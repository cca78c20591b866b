"""The house rules: which way imports point, where heavy libraries live, what git may hold."""

import ast
import os
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from vsdemo.core.paths import ROOT

HOMES = {
    "torchvision": ("vision.*", "recipes.pocket.*", "recipes.finder.*"),
    "open_clip": ("vision.*", "models.clip", "recipes.clip.*"),
    "huggingface_hub": ("models.hub", "vision.backbones.families"),
    "mteb": ("search.mteb_encoder",),
    "onnxruntime": ("vision.backbones.detectors",),
    "pyarrow": ("search.export", "search.embedding_*", "search.bench_vectors", "search.stores.*"),
    "gradio": ("ui", "ui.*"),
    "stanza": ("data.text.parser", "recipes.parsing.*"),
    "resvg_py": ("data.storybook.drawing",),
    "typer": ("cli", "cli.*"),
    "umap": ("hierarchy.projection",),
    "plotly": ("plots.*",),
    "psutil": ("core.memory", "training.jobs.*"),
    "usearch": ("search.stores.graph",),
    "pymilvus": ("search.stores.milvus",),
    "spaces": ("serving.spaces",),
}
ICONS = ("apple-touch-icon", "icon-192", "icon-512", "maskable-512")
MODULES = {
    ".".join(p.relative_to(ROOT / "vsdemo").with_suffix("").parts).removesuffix(".__init__"): p
    for p in (ROOT / "vsdemo").rglob("*.py")
}


@cache
def imported_libraries(path: Path) -> set[str]:
    """Top-level names of what a file imports, at its top or inside of functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
            names |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)}
    return {name.split(".")[0] for name in names}


def test_imports_keep_the_contracts_of_importlinter():
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("library", HOMES)
def test_a_heavy_library_has_one_home(library):
    users = {m for m, path in MODULES.items() if library in imported_libraries(path)}
    assert users, f"nothing uses {library}"
    assert {u for u in users if not any(fnmatch(u, home) for home in HOMES[library])} == set()


def test_the_top_of_the_package_holds_packages_only():
    flat = {path.name for path in (ROOT / "vsdemo").glob("*.py")}
    assert flat == {"__init__.py", "__main__.py"}
    assert len([p for p in (ROOT / "vsdemo").iterdir() if (p / "__init__.py").exists()]) <= 14


def test_no_module_is_a_collection_of_odds_and_ends():
    names = {"utils", "util", "helpers", "misc", "common"}
    assert [p for p in MODULES.values() if p.stem in names] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_git_holds_no_photo_and_no_large_file():
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    tracked = [ROOT / name for name in listed.split("\0") if name and (ROOT / name).exists()]
    assert ROOT / "app.py" in tracked
    photos = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
    drawn = {  # by vsdemo; no photo of a data set
        ".github/search.png",
        "vsdemo/data/storybook/sheet.jpg",
        *(f"vsdemo/ui/static/icons/{name}.png" for name in ICONS),
    }
    pictures = {p.relative_to(ROOT).as_posix() for p in tracked if p.suffix.lower() in photos}
    assert pictures == drawn
    assert [p for p in tracked if p.stat().st_size > 10_000_000] == []
    assert sum(p.stat().st_size for p in tracked) <= 140_000_000


def test_processes_share_the_tests_by_groups(request):
    """A process that gets one test of a group gets all; else each starts every fixture again."""
    if os.environ.get("PYTEST_XDIST_WORKER"):
        assert request.node.nodeid.endswith("@test_structure.py")
