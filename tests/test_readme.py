"""Commands in the README must exist, and its directory tree must list every package."""

import re
import shlex
from pathlib import Path

import click
import pytest
from typer.main import get_command

from vsdemo.cli import cli

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^ {4}python -m vsdemo (.+)$", README, re.MULTILINE)


def test_readme_shows_every_verb() -> None:
    assert set(get_command(cli).commands) - {"app"} <= {c.split()[0] for c in COMMANDS}


@pytest.mark.parametrize("line", COMMANDS)
def test_command_line_is_accepted(line: str) -> None:
    """Parsed to the end by the verb's own options; an unknown one would raise."""
    command, name, words = get_command(cli), "vsdemo", shlex.split(line, comments=True)
    while isinstance(command, click.Group) or hasattr(command, "commands"):
        context = command.make_context(name, words)
        words = [*context._protected_args, *context.args]
        if not words:
            return
        name, command, words = command.resolve_command(context, words)
    command.make_context(name, words)


def test_setup_commands() -> None:
    assert "pip install -r requirements.txt && python app.py" in README
    assert "pip install -r tests/requirements.txt && python -m pytest" in README


def test_architecture_names_every_package() -> None:
    tree = README.split("## Architecture")[1].split("## Developing")[0]
    packages = [p.parent.name for p in (ROOT / "vsdemo").glob("*/__init__.py")]
    assert [p for p in packages if f"vsdemo/{p}/" not in tree] == []


def test_readme_is_for_newcomers() -> None:
    assert len(README.splitlines()) <= 200


def test_the_python_example_runs(toy_checkpoint, capsys) -> None:
    """With a small checkpoint and gallery in place of those that it names."""
    code = re.search(r"^```python\n(.+?)^```", README, re.MULTILINE | re.DOTALL)[1]
    exec(code.replace("checkpoints/storybook/gru", str(toy_checkpoint)))
    assert len(capsys.readouterr().out.splitlines()) == 5
