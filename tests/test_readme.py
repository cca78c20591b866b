"""What the README tells people to type must exist, and its tree must name every module."""

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


def test_architecture_names_every_module() -> None:
    tree = README.split("## Architecture")[1].split("## Developing")[0]
    parts = {p.name for p in (ROOT / "vsdemo").glob("*.py")} - {"__init__.py"}
    parts |= {f"{p.parent.name}/" for p in (ROOT / "vsdemo").glob("*/__init__.py")}
    assert [p for p in sorted(parts) if p not in tree] == []
