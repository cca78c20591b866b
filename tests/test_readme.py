"""What the READMEs state is true: commands, files, links, figures, and the licence."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from PIL import Image
from typer.main import get_command

from vsdemo import models
from vsdemo.cli import cli
from vsdemo.core import images, sentences
from vsdemo.data.storybook import store
from vsdemo.evaluation.metrics import bootstrap
from vsdemo.models import checkpoint, checkpoint_names, licences

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
ALL_COMMANDS = (ROOT / "vsdemo" / "cli" / "README.md").read_text(encoding="utf-8")
SERVING = (ROOT / "vsdemo" / "serving" / "README.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "checkpoints" / "README.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"^ {4}python -m vsdemo (.+)$", re.MULTILINE)
IN_TEXT = re.compile(r"python\s+-m\s+vsdemo\s+([^`&]+)")
COMMANDS = [
    *COMMAND.findall(README + ALL_COMMANDS + SERVING),
    *dict.fromkeys(" ".join(words.split()) for words in IN_TEXT.findall(RESULTS)),
]
PICTURE = ".github/search.png"


def section(title: str) -> str:
    """Return a section of the README without its title."""
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_verb_has_an_example() -> None:
    verbs = {command.split()[0] for command in COMMAND.findall(ALL_COMMANDS)}
    assert set(get_command(cli).commands) == verbs


@pytest.mark.parametrize("line", COMMANDS)
def test_command_line_is_accepted(line: str, monkeypatch) -> None:
    """Parsed to the end by the verb's own options; an unknown one would raise.

    Models of open_clip are not here.
    """
    monkeypatch.setattr(checkpoint_names, "find", Path)
    command, name, words = get_command(cli), "vsdemo", shlex.split(line, comments=True)
    while isinstance(command, click.Group) or hasattr(command, "commands"):
        context = command.make_context(name, words)
        words = [*context._protected_args, *context.args]
        if not words:
            return
        name, command, words = command.resolve_command(context, words)
    command.make_context(name, words)


@pytest.mark.parametrize("line", COMMANDS)
def test_checkpoints_of_a_command_ship(line: str) -> None:
    named = re.findall(r"checkpoints/\S+", line)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_setup_commands() -> None:
    assert "pip install -r requirements.txt && python app.py" in README
    assert "pip install -r tests/requirements.txt && python -m pytest" in README


def test_the_tree_names_every_package() -> None:
    tree = section("Folders")
    packages = [p.parent.name for p in (ROOT / "vsdemo").glob("*/__init__.py")]
    assert [p for p in packages if f"vsdemo/{p}/" not in tree] == []
    named = re.findall(r"^ {4}(\S+) ", tree, re.MULTILINE)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_tabs_are_those_of_the_app() -> None:
    from vsdemo.ui import TABS

    rows = re.findall(r"^\| (\w+) \|", section("Run"), re.MULTILINE)
    assert rows == ["tab", *(tab.title for tab in TABS)]


def test_files_named_in_the_text_exist() -> None:
    named = re.findall(r"`((?:vsdemo|checkpoints|tests|\.ci)/[\w./]*)`", README + SERVING)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("folder", [ROOT, ROOT / "vsdemo/cli", ROOT / "vsdemo/serving"])
def test_links_lead_somewhere(folder: Path) -> None:
    """To a file, and to a title in it."""
    for link in re.findall(r"\]\(([^)]+)\)", (folder / "README.md").read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        target = folder / name
        assert target.is_file(), link
        titles = re.findall(r"^#+ (.+)$", target.read_text() if anchor else "", re.MULTILINE)
        assert not anchor or anchor in {title.lower().replace(" ", "-") for title in titles}


def test_readme_is_for_newcomers() -> None:
    assert len(README.splitlines()) <= 200


def test_the_python_example_runs(tmp_path, monkeypatch) -> None:
    Image.new("RGB", (60, 40), "red").save(tmp_path / "photo.jpg")
    monkeypatch.chdir(tmp_path)
    code = re.search(r"^```python\n(.+?)^```", README, re.MULTILINE | re.DOTALL)[1]
    scope: dict[str, Any] = {}
    exec(code, scope)
    stated = re.findall(r"^(model\..+?)  # (\(.+?\))", code, re.MULTILINE)
    assert len(stated) == 3
    for call, shape in stated:
        assert str(eval(call, scope).shape) == shape


def test_the_picture_is_wide_and_small() -> None:
    assert PICTURE in README
    with Image.open(ROOT / PICTURE) as picture:
        assert 1200 <= picture.width <= 1300
    assert (ROOT / PICTURE).stat().st_size < 300_000


def recall(dataset: str, model: str) -> str:
    """Return R@10 of a shipped checkpoint as the table of results has it."""
    path = ROOT / "checkpoints" / dataset / model / "metrics.json"
    if not path.exists():
        return ""
    test = json.loads(path.read_text())["test"]
    return bootstrap.cell(test["t2i"]["r10"], test["ci95"]["t2i"]["r10"])


def test_the_table_of_results_is_that_of_the_checkpoints() -> None:
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in re.findall(r"^\| `.+$", section("Results"), re.MULTILINE)
    ]
    materials = {"photos", "scenes"}
    of_photos = {m for m, config in models.presets().values() if config.material in materials}
    assert {name.strip("`") for name, *_ in rows} == of_photos
    assert len(rows) == len(of_photos)
    for name, paper, *cells in rows:
        model = name.strip("`")
        source = models.get(model)
        assert paper == (f"{source.paper} {source.year}" if source.paper else "our own recipe")
        assert cells == [recall("storybook", model), recall("flickr8k", model)]


def test_every_other_figure_of_the_results_is_backed() -> None:
    text = re.sub(r"^\|.+$", "", section("Results"), flags=re.MULTILINE)
    facts = {"10", "95"}  # R@10, the intervals
    for dataset in ("storybook", "flickr8k"):
        metrics = json.loads((ROOT / f"checkpoints/{dataset}/gru/metrics.json").read_text())
        facts |= {f"{metrics['test'][count]:,}" for count in ("n_images", "n_captions")}
    backbone = checkpoint.read_spec(ROOT / "checkpoints/flickr8k/gru").config.backbone
    assert backbone == "torchvision/densenet169"
    assert set(re.findall(r"(?<!\w)\d[\d,]*", text)) == facts | {"169"}


def test_counts_of_storybook() -> None:
    text = " ".join(README.split())
    count = {name: f"{len(numbers):,}" for name, numbers in store.SPLITS.items()}
    assert f"draws its {count['all']} scenes with five captions each" in text
    assert f"(train {count['train']}, dev {count['dev']}, test {count['test']}, and " in text
    assert f"and {count['compositional']} `compositional` ones" in text


def test_limits_of_a_server() -> None:
    from vsdemo.search.engine import MAX_K
    from vsdemo.serving import access
    from vsdemo.serving.training_limits import TrainingLimits
    from vsdemo.ui import MAX_UPLOAD
    from vsdemo.ui.library import MAX_ENGINES, MAX_PREPARATIONS

    assert f"{MAX_UPLOAD.removesuffix('mb')} MB" in SERVING
    assert f"{images.MAX_MEGAPIXELS} megapixels" in SERVING
    assert f"{sentences.MAX_CHARACTERS:,} characters" in SERVING
    assert f"1 to {MAX_K:,}" in SERVING
    assert f"{MAX_ENGINES} pairs of model and gallery" in SERVING
    assert f"{MAX_PREPARATIONS} preparations" in SERVING
    assert f"by default {TrainingLimits().minutes:g}" in SERVING
    assert all(f"`{name}`" in SERVING for name in access.PUBLIC)


def test_the_licence_is_not_only_that_of_the_code() -> None:
    """MIT would be wrong for most of the weights, and the header must say so."""
    header = README.split("---")[1]
    assert "\nlicense: other\n" in header
    assert "\nlicense_link: LICENSE\n" in header
    assert "**Licence.** The code is MIT." in README
    specs = [checkpoint.read_spec(folder) for folder in checkpoint.shipped()]
    research = [spec for spec in specs if licences.of(spec).label == licences.RESEARCH_ONLY]
    assert 2 * len(research) > len(specs)
    assert "Most weights below `checkpoints/` are for research only" in README
    assert (ROOT / "LICENSE").read_text().startswith("MIT License\n")
    assert "most of them may be used for non-commercial research" in (ROOT / "LICENSE").read_text()
