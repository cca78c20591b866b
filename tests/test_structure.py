"""The house rules: who may import whom, how long files get, what git may hold."""

import ast
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from vsdemo.core.paths import ROOT

# The whole number is the floor; decimals order the files of one floor. First match counts.
RANKS = {
    **{
        "types": 0.0,
        "device": 0.1,
        "paths": 0.1,
        "config": 0.1,
        "photos": 0.2,
        "events": 0.2,
        "regions": 0.1,
        "tensors": 0.2,
    },
    **{"download": 0.2, "unpack": 0.3, "fetch": 0.4},
    **{"data.conllu": 0.9, "data.constituents": 0.9, "data.parser": 1.0, "data.trees": 1.05},
    **{"data.participles": 0.8, "data.clauses": 0.8},
    **{"data.storybook.scene": 1.0, "data.storybook.entries": 1.0, "data.storybook.lexicon": 1.01},
    **{"data.storybook.meaning": 1.02, "data.storybook.phrases": 1.02},
    **{"data.storybook.telling": 1.03, "data.storybook.captions": 1.04},
    **{"data.storybook.twins": 1.04, "data.storybook.drawing": 1.04},
    **{"data.storybook.sprites": 1.05, "data.storybook.stage": 1.06},
    **{"data.storybook.layouts": 1.06, "data.storybook.sense": 1.06, "data.storybook.room": 1.07},
    **{"data.storybook.relations": 1.05, "data.storybook.pictures": 1.08},
    **{"data.storybook.store": 1.085, "data.storybook.sheet": 1.09, "data.storybook": 1.09},
    **{"data.lines": 0.8, "data.sick": 0.9, "data.wordnet": 1.0, "data.hypernyms": 1.05},
    **{"data.ladders": 1.12},
    **{"data.bank.english": 0.8, "data.bank.grammar": 0.9, "data.bank": 1.0},
    **{"data.vocab": 1.1, "data.sentences": 1.1, "data.vectors": 1.2, "data.*": 1.0, "data": 1.1},
    **{"scores": 1.0, "backbones.weights": 1.0, "backbones.pocket": 1.05, "backbones": 1.1},
    **{"backbones.classifier": 1.02, "backbones.clip": 1.0, "backbones.network": 1.1},
    **{"regions": 0.2, "backbones.detectors": 1.1},
    **{"proposals": 1.9, "encoders.regions": 2.25, "models.devise": 3.15},
    **{"features": 2.0, "losses": 2.0, "schedule": 2.0, "encoders": 2.0, "optim": 2.4},
    **{
        "encoders.heads": 2.0,
        "encoders.words": 2.0,
        "encoders.recurrent": 2.0,
        "encoders.levels": 2.0,
        "encoders.shapes": 2.0,
    },
    **{"encoders.trees": 2.1, "encoders.dropout": 2.1, "encoders.recursion": 2.3},
    **{"encoders.*": 2.2, "dual": 2.3},
    **{"models.socher": 3.0, "models.*": 3.1, "models": 3.2},
    **{
        "tasks": 3.0,
        "tasks.ranks": 3.0,
        "tasks.correlations": 3.0,
        "tasks.relatedness": 3.0,
        "tasks.texts": 3.1,
        "tasks.retrieval": 3.1,
        "tasks.similarity": 3.1,
        "tasks.shares": 3.1,
        "tasks.stories": 3.1,
        "tasks.pointing": 3.1,
        "tasks.phrases": 3.15,
        "tasks.*": 3.2,
    },
    **{"parsing.treebank": 5.0, "parsing.pack": 5.0, "parsing.vectors": 5.1},
    **{
        "parsing.quick": 5.0,
        "parsing.score": 5.1,
        "parsing.silver": 5.2,
        "parsing.train": 5.3,
        "parsing": 5.0,
    },
    **{"pocket.batches": 5.1, "pocket.train": 5.2, "pocket.*": 5.0, "pocket": 5.0},
    **{"checkpoint": 4.0, "resume": 4.1, "index": 5.0, "watch": 5.02, "train": 5.05},
    **{"evaluate": 5.0, "bench": 5.0},
    "projection": 5.0,
    **{"train_pairs": 5.1, "train_hypernyms": 5.1, "subsets": 6.2},
    **{"concept_scores": 1.1, "hierarchy": 6.0, "worlds": 6.1},
    **{"claims": 5.0, "curve": 5.0, "ensemble": 5.0, "tables": 5.1, "lab": 5.1, "engine": 6.0},
    **{
        "likeness": 6.1,
        "tensorboard": 0.1,
        "tail": 0.1,
        "plan": 0.1,
        "processes": 0.2,
        "runs": 6.1,
        "preflight": 6.2,
    },
    **{
        "plots.bars": 6.0,
        "plots.grammar": 6.0,
        "plots.layout": 6.0,
        "plots.marks": 6.0,
        "plots.*": 6.1,
        "plots": 6.2,
    },
    **{"ui.galleries": 7.0, "ui.models": 7.0, "ui.strangers": 7.0, "ui.work": 7.0},
    **{"ui.learning": 7.05, "ui.exports": 7.05, "ui.planning": 7.15},
    **{
        "ui.cones": 7.05,
        "ui.form": 7.05,
        "ui.standing": 7.05,
        "ui.grounds": 7.08,
        "ui.places": 7.06,
    },
    **{
        "ui.strangers": 7.0,
        "ui.learning": 7.05,
        "ui.exports": 7.05,
        "ui.joining": 7.15,
        "ui.arrival": 7.15,
        "ui.tabs": 7.25,
        "ui.hierarchy": 7.2,
    },
    **{"ui.library": 7.05, "ui.page": 7.0, "ui.pictures": 7.0, "ui.theme": 7.0},
    **{
        "ui.answers": 7.1,
        "ui.aligned": 7.1,
        "ui.alike": 7.1,
        "ui.asked": 7.1,
        "ui.tree": 7.15,
        "ui.plotly_widget": 7.05,
        "ui.plotly_map": 7.1,
        "ui.curves": 7.1,
        "ui.regions": 7.15,
        "ui.*": 7.2,
        "ui": 7.3,
        "cli_options": 7.0,
        "cli_*": 7.1,
        "cli": 7.4,
    },
    **{"__main__": 8.0, "app": 8.0},
}
HOMES = {
    "torchvision": ("backbones", "backbones.*", "pocket.*"),
    "open_clip": ("backbones.weights", "backbones.clip"),
    "onnxruntime": ("backbones.detectors",),
    "gradio": ("ui", "ui.*"),
    "stanza": ("data.parser", "parsing.*"),
    "resvg_py": ("data.storybook.drawing",),
    "typer": ("cli", "cli_*"),
    "umap": ("projection",),
    "plotly": ("plots.map",),
    "psutil": ("processes",),
}
SOURCES = {
    ".".join(p.relative_to(ROOT / "vsdemo").with_suffix("").parts).removesuffix(".__init__"): p
    for p in (ROOT / "vsdemo").rglob("*.py")
    if p != ROOT / "vsdemo" / "__init__.py"
} | {"app": ROOT / "app.py"}
PYTHON = [*SOURCES.values(), *(ROOT / "tests").rglob("*.py")]


def rank(module: str) -> float:
    return next(r for pattern, r in RANKS.items() if fnmatch(module, pattern))


def package(module: str) -> str | None:
    name = module.split(".")[0]
    return name if (ROOT / "vsdemo" / name).is_dir() else None


def imports(path: Path) -> set[str]:
    """Full names of what a file imports, at its top or inside of functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {n if n.removeprefix("vsdemo.") in SOURCES else node.module for n in names}
    return found


@pytest.mark.parametrize("module", SOURCES)
def test_a_file_imports_from_lower_floors_only(module):
    for name in imports(SOURCES[module]):
        target = name.removeprefix("vsdemo.")
        if name.startswith("vsdemo.") and target in SOURCES:
            assert rank(target) < rank(module), f"{module} imports {target}"
            both = {package(module), package(target)} - {None}
            neighbours = len(both) == 2 and int(rank(module)) == int(rank(target))
            assert not neighbours, f"{module} imports its neighbour {target}"


@pytest.mark.parametrize("library", HOMES)
def test_a_heavy_library_has_one_home(library):
    users = {m for m, p in SOURCES.items() if library in {i.split(".")[0] for i in imports(p)}}
    assert users, f"nothing uses {library}"
    assert {u for u in users if not any(fnmatch(u, home) for home in HOMES[library])} == set()


@pytest.mark.parametrize("path", PYTHON, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_functions_are_short(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 250
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < 40, node.name


def test_no_file_is_a_heap_of_odds_and_ends():
    assert [p for p in PYTHON if p.stem in {"utils", "util", "helpers", "misc", "common"}] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_git_holds_no_photo_and_no_large_file():
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    tracked = [ROOT / name for name in listed.split("\0") if name and (ROOT / name).exists()]
    assert ROOT / "app.py" in tracked
    photos = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
    drawn = ROOT / "vsdemo" / "data" / "storybook" / "sheet.jpg"  # by vsdemo, for the README
    assert [p for p in tracked if p.suffix.lower() in photos] == [drawn]
    assert [p for p in tracked if p.stat().st_size > 10_000_000] == []
