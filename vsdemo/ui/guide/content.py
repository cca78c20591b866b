"""The texts of the guide in English, checked when they are read; `view` translates them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

FOLDER = Path(__file__).parent
Text = Annotated[str, Field(min_length=1)]
Address = Annotated[str, Field(pattern=r"^\?tab=[a-z]+")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Trial(_Part):
    """Something to try.

    Attributes:
        text: What it is.
        address: The address of the page that shows it.
    """

    text: Text
    address: Address


class Explanation(_Part):
    """The idea behind a tab.

    Attributes:
        title: The idea in a few words.
        paper: Authors, year and title.
        idea: Five sentences; [[words]] in double brackets are terms of the glossary.
        equation: The equation, in LaTeX.
        symbols: What its symbols mean.
        figure: What was measured; a template with figures from the records of the results.
        file: The file that holds it, relative to the repository.
        trials: What to try.
    """

    title: Text
    paper: Text
    idea: Annotated[tuple[Text, ...], Field(min_length=5, max_length=5)]
    equation: Text
    symbols: Text
    figure: Text
    file: Text
    trials: Annotated[tuple[Trial, ...], Field(min_length=1, alias="try")]


class Term(_Part):
    """A term of the glossary; its name in English is also the key that leads to it."""

    name: Text
    text: Text


class TourStep(_Part):
    """A step of the tour.

    Attributes:
        title: What it shows.
        text: What is to be known about it.
        address: The address of the page.
        look: CSS selector of what is framed on the page.
    """

    title: Text
    text: Text
    address: Address
    look: Text


class LessonStep(_Part):
    """A step of a lesson.

    Attributes:
        title: What it is about.
        text: What is to be known first.
        question: What to predict; empty without a question.
        options: Answers to choose from.
        answer: Number of the right one.
        button: Label of the button that opens the page.
        address: The address of the page.
        look: CSS selector of what is framed on the page; empty if that is plain to see.
        see: What there is to see; a template with figures from the records of the results.
        checks: What the step states about the models' answers, for the test that recomputes them.
    """

    title: Text
    text: Text
    question: str = ""
    options: tuple[Text, ...] = ()
    answer: int = -1
    button: Text
    address: Address
    look: str = ""
    see: Text
    checks: tuple[dict[str, Any], ...] = ()

    @model_validator(mode="after")
    def _has_an_answer(self) -> Self:
        if bool(self.question) != (0 <= self.answer < len(self.options)):
            raise ValueError("a question needs options, and one of them as its answer")
        return self


class Lesson(_Part):
    """A chain of steps inside the app.

    Attributes:
        title: What it teaches.
        about: The question that it answers.
        steps: The steps.
    """

    title: Text
    about: Text
    steps: Annotated[tuple[LessonStep, ...], Field(min_length=1)]


@cache
def explanations() -> dict[str, Explanation]:
    """Return the explanation of each tab, by the tab's key."""
    return {tab: Explanation(**values) for tab, values in _read("explanations").items()}


@cache
def glossary() -> tuple[Term, ...]:
    """Return the terms of the glossary in alphabetical order."""
    terms = (Term(**values) for values in _read("glossary")["terms"])
    return tuple(sorted(terms, key=lambda term: term.name.lower()))


@cache
def tour() -> tuple[TourStep, ...]:
    """Return the steps of the tour."""
    return tuple(TourStep(**values) for values in _read("tour")["steps"])


@cache
def lessons() -> tuple[Lesson, ...]:
    """Return the lessons in order."""
    return tuple(Lesson(**values) for values in _read("lessons")["lessons"])


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
