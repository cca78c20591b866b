"""The pages of the guide as HTML."""

from __future__ import annotations

import csv
import io
import re
from functools import cache

from jinja2 import Environment, StrictUndefined
from latex2mathml.converter import convert
from markupsafe import Markup, escape

from vsdemo.core import language
from vsdemo.core.errors import UserError
from vsdemo.core.language import message, translate
from vsdemo.core.paths import ROOT
from vsdemo.evaluation.report.page import Page
from vsdemo.ui.components.templates import render
from vsdemo.ui.guide import content

RECORDS = ROOT / "checkpoints"  # also where VSDEMO_CHECKPOINTS names other models
TERM = re.compile(r"\[\[([^\]|]+)(?:\|([^\]]+))?\]\]")
FIGURE = re.compile(r"(\d+(?:,\d{3})*(?:\.(\d+))?)(%?)")
SEPARATORS = {"de": ";"}  # by language; elsewhere the comma is not the decimal sign
STEP = re.compile(r"tour-([0-9]{1,3})|lesson-([0-9]{1,3})-([0-9]{1,3})")
WORKSHEET = (
    message("lesson"),
    message("step"),
    message("question"),
    message("options"),
    message("your prediction"),
    message("what you saw"),
)


def fragment(name: str) -> Markup | None:
    """Return a page of the guide by its name; None if there is none.

    Names are "home", "glossary", "tour", "explain-" and the key of a tab, "lesson-1", and
    "lesson-1-2" for the second step of the first lesson.
    """
    if name == "home":
        return render("guide/home.html", lessons=content.lessons())
    if name == "glossary":
        terms = sorted(content.glossary(), key=lambda term: translate(term.name).lower())
        return render("guide/glossary.html", terms=terms)
    if (tab := name.removeprefix("explain-")) != name:
        return _explanation(tab) if tab in content.explanations() else None
    if match := STEP.fullmatch(name):
        numbers = [int(number) - 1 for number in match.groups() if number]
        return _tour_step(*numbers) if len(numbers) == 1 else _lesson_step(*numbers)
    return None


def teachers_page() -> Markup:
    """Return all lessons with their answers on one page, to be printed."""
    lessons = [
        (lesson, [with_figures(translate(step.see)) for step in lesson.steps])
        for lesson in content.lessons()
    ]
    return render("guide/teacher.html", lessons=lessons, language=language.current())


def worksheet(name: str) -> str | None:
    """Return the questions of a lesson as CSV, with columns to fill in; None for no lesson.

    Columns are separated as spreadsheets in the language of the page expect it.
    """
    lessons = {str(number): lesson for number, lesson in enumerate(content.lessons(), start=1)}
    if name not in lessons:
        return None
    lesson = lessons[name]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=SEPARATORS.get(language.current(), ","))
    writer.writerow(map(translate, WORKSHEET))
    for place, step in enumerate(lesson.steps, start=1):
        title, options = translate(step.title), " / ".join(map(translate, step.options))
        question = translate(step.question)
        writer.writerow([translate(lesson.title), f"{place}. {title}", question, options, "", ""])
    return text.getvalue()


def with_figures(text: str) -> Markup:
    """Return a text with its figures, which it quotes from the records of the results.

    Words in backticks are code. The text is left out where the records are missing, as in an
    installation without the folder checkpoints/.

    Args:
        text: The text in the language of the page.
    """
    return _with_figures(text, language.current())


@cache
def _with_figures(text: str, code: str) -> Markup:
    page = Page(RECORDS)
    environment = Environment(undefined=StrictUndefined, autoescape=True)
    environment.globals["quote"] = lambda key, pattern: _written(page.quote(key, pattern))
    try:
        with language.speaking(code):
            quoted = environment.from_string(text).render()
    except UserError:
        return Markup()
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", quoted))


def _written(quoted: str) -> str:
    """Return quoted figures as the language writes them."""

    def written(match: re.Match[str]) -> str:
        value, digits = float(match[1].replace(",", "")), len(match[2] or "")
        if match[3]:
            return language.percentage(value / 100, digits)
        return language.number(value, digits)

    return FIGURE.sub(written, quoted)


def with_terms(text: str) -> Markup:
    """Return a text whose terms in double brackets are buttons that lead to the glossary."""
    parts, end = Markup(), 0
    for match in TERM.finditer(text):
        name = match[1]
        parts += escape(text[end : match.start()])
        parts += render("guide/term.html", name=name, text=match[2] or name)
        end = match.end()
    return parts + escape(text[end:])


def _explanation(tab: str) -> Markup:
    explanation = content.explanations()[tab]
    return render(
        "guide/explanation.html",
        tab=tab,
        explanation=explanation,
        idea=[with_terms(translate(sentence)) for sentence in explanation.idea],
        equation=Markup(convert(explanation.equation, display="block")),  # a text of the app itself
        figure=with_figures(translate(explanation.figure)),
    )


def _tour_step(number: int) -> Markup | None:
    steps = content.tour()
    if not 0 <= number < len(steps):
        return None
    return render("guide/tour.html", step=steps[number], number=number + 1, total=len(steps))


def _lesson_step(lesson: int, number: int) -> Markup | None:
    lessons = content.lessons()
    if not (0 <= lesson < len(lessons) and 0 <= number < len(lessons[lesson].steps)):
        return None
    step = lessons[lesson].steps[number]
    return render(
        "guide/lesson.html",
        lesson=lessons[lesson],
        lesson_number=lesson + 1,
        step=step,
        number=number + 1,
        total=len(lessons[lesson].steps),
        is_last_lesson=lesson + 1 == len(lessons),
        see=with_figures(translate(step.see)),
    )
