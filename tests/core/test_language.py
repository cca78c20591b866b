"""Translations: complete, with the same placeholders, and of texts that the app has."""

import ast
import re
import string
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from vsdemo import models
from vsdemo.core import language
from vsdemo.core.config import settings_of
from vsdemo.models import licences, scores
from vsdemo.search import ranking
from vsdemo.ui.guide import content
from vsdemo.ui.training import replay

ROOT = Path(language.__file__).parents[2]
PACKAGE = ROOT / "vsdemo"
TRANSLATIONS = language.languages()[1:]
TEMPLATES = PACKAGE / "ui" / "templates"
VARIABLE = re.compile(r"\b_\(\s*[^\"'\s]")
SCORES = [score for score in vars(scores).values() if isinstance(getattr(score, "unit", None), str)]
SETTINGS = [
    field for _, config in models.presets().values() for field in settings_of(config).values()
]
# Texts that are translated where they are shown, as they are made in lower packages.
SHOWN = {
    *(score.unit for score in SCORES),
    *(score.meaning for score in SCORES),
    *(field.description for field in SETTINGS),
    licences.RESEARCH_ONLY,
    ranking.MEANING,
    *(path.stem.replace("_", " ") for path in replay.RECORDINGS.glob("*.jsonl")),
}


def strings(value) -> set[str]:
    """Return all strings in a value of a TOML file."""
    match value:
        case str():
            return {value}
        case dict():
            return set().union(*map(strings, value.values()))
        case list():
            return set().union(*map(strings, value))
    return set()


@pytest.fixture(scope="module")
def extracted(tmp_path_factory) -> dict[str, tuple[str, ...]]:
    """The texts that Babel extracts: the English one -> all its forms."""
    file = tmp_path_factory.mktemp("messages") / "messages.pot"
    keywords = [f"--keyword={keyword}" for keyword in language.KEYWORDS]
    command = [sys.executable, "-m", "babel.messages.frontend", "-q", "extract"]
    options = ["-F", "pyproject.toml", *keywords, "-o", str(file), "vsdemo"]
    subprocess.run([*command, *options], cwd=ROOT, check=True, capture_output=True)
    with file.open("rb") as source:
        return {forms(m)[0]: forms(m) for m in read_po(source) if m.id}


def forms(message) -> tuple[str, ...]:
    return (message.id,) if isinstance(message.id, str) else tuple(message.id)


def translations(message) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string)


def catalog(code: str):
    with (language.FOLDER / f"{code}.po").open("rb") as file:
        return [m for m in read_po(file, code, abort_invalid=True) if m.id]


def placeholders(text: str) -> set[str]:
    """Return the names of the values in a text, of either kind."""
    names = set(re.findall(r"%\((\w+)\)s", text))
    if "{{" in text:  # a template with figures
        return names | set(re.findall(r"\{\{.*?\}\}", text)) | terms(text)
    return names | {name for _, name, _, _ in string.Formatter().parse(text) if name} | terms(text)


def terms(text: str) -> set[str]:
    """Return the terms of the glossary in a text."""
    return {term.partition("|")[0] for term in re.findall(r"\[\[(.*?)\]\]", text)}


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_every_text_is_translated(code, extracted):
    translated = {forms(m)[0]: m for m in catalog(code)}
    assert set(extracted) - set(translated) == set()
    assert SHOWN - set(translated) == set()
    assert all(forms(translated[text]) == ids for text, ids in extracted.items())
    texts = (
        t for m in translated.values() for t in ([m.string] if type(m.string) is str else m.string)
    )
    assert all(text.strip() for text in texts)


def guide_texts() -> set[str]:
    """Return the texts of the guide that a visitor reads."""
    texts = set()
    for explanation in content.explanations().values():
        texts |= {explanation.title, *explanation.idea, explanation.symbols, explanation.figure}
        texts |= {trial.text for trial in explanation.trials}
    for term in content.glossary():
        texts |= {term.name, term.text}
    for step in content.tour():
        texts |= {step.title, step.text}
    for lesson in content.lessons():
        texts |= {lesson.title, lesson.about}
        for step in lesson.steps:
            texts |= {step.title, step.text, step.question, *step.options, step.button, step.see}
    return texts - {""}


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_every_text_of_the_guide_is_translated(code):
    assert guide_texts() - {forms(m)[0] for m in catalog(code)} == set()


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_placeholders_are_those_of_the_text(code):
    for message in catalog(code):
        wanted = [placeholders(text) for text in forms(message)]
        for text in translations(message):
            assert placeholders(text) in wanted, message.id


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_every_entry_is_a_text_of_the_app(code, extracted):
    texts = {*extracted, *SHOWN}
    for file in PACKAGE.rglob("*.py"):
        tree = ast.parse(file.read_text())
        constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        texts |= {value for value in constants if isinstance(value, str)}
    for file in PACKAGE.rglob("*.toml"):
        texts |= strings(tomllib.loads(file.read_text()))
    assert {forms(m)[0] for m in catalog(code)} - texts == set()


def test_templates_escape_what_they_translate():
    """`_` of a variable would be HTML: only `translate` escapes."""
    for file in TEMPLATES.rglob("*.html"):
        assert not VARIABLE.search(file.read_text()), file.name


def test_a_page_is_in_the_first_language_of_its_browser():
    assert language.preferred("de-CH,de;q=0.9,en;q=0.8") == "de"
    assert language.preferred("DE") == "de"
    for other in ("", "en-GB,de", "fr", "*", ";;,", "../../etc", "de_x" * 999):
        assert language.preferred(other) == "en"


def test_texts_are_english_unless_a_language_is_spoken():
    assert language.translate("Find photos") == "Find photos"
    with language.speaking("de"):
        assert language.translate("Find photos") == "Fotos finden"
        assert language.translate("not in the catalog {n}", n=3) == "not in the catalog 3"
    assert language.translate("Find photos") == "Find photos"


def test_numbers_are_written_as_in_the_language():
    assert [language.number(1234.5, 2), language.percentage(0.125, 1)] == ["1,234.50", "12.5%"]
    with language.speaking("de"):
        assert [language.number(1234.5, 2), language.number(1234)] == ["1.234,50", "1.234"]
        assert language.percentage(0.125, 1) == "12,5\xa0%"


@pytest.mark.parametrize("value", [1e300, float("nan"), float("inf"), -1e20])
def test_numbers_of_any_size_are_written(value):
    assert language.number(value, 2) == f"{value:,.2f}"
