"""A lesson about orders in five steps, each with one thing to do and what to see."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from vsdemo.ui.components.templates import render

COMPOSED = ("a dog", "a ball")


@dataclass(frozen=True)
class LessonStep:
    """A step of the lesson.

    Attributes:
        title: What it is about.
        do: What to do.
        see: What there is to see.
        button: Label of the button that does it for the visitor; empty without one.
        target: Where the button goes; empty if it does something else.
    """

    title: str
    do: str
    see: str
    button: str = ""
    target: str = ""


STEPS = (
    LessonStep(
        title="An order in the plane",
        do="In the figure below, drag a concept out of the cone of the concept above it.",
        see="Its line turns red: a concept lies below another one only while it is inside its "
        "cone, that is, while both of its coordinates are at least as large.",
    ),
    LessonStep(
        title="A walk that is true",
        do="Start from a sentence and read the path above the three columns.",
        see="From right to left each step says less, down to “anything”. Where all facts are "
        "known, each step is marked as true or not true.",
        button="Go to “A brown dog runs on the beach.”",
        target="A brown dog runs on the beach.",
    ),
    LessonStep(
        title="What a cosine cannot say",
        do="Go to “a dog”, then to “an animal” under Above.",
        see="An animal is above a dog, but a dog is not above an animal: it is listed under "
        "Below. A cosine is the same in both directions, so it cannot tell which of two is the "
        "more general one.",
        button="Go to “a dog”",
        target="a dog",
    ),
    LessonStep(
        title="Two sentences in one",
        do="Keep two items and click Compose, or let the button do both.",
        see="The larger of both values in each coordinate lies below both items: it says what "
        "either of them says. Its nearest sentences and photos have a dog and a ball.",
        button="Compose “a dog” and “a ball”",
    ),
    LessonStep(
        title="What the model gets wrong",
        do="Click a photo, look at the first steps above it, and go on to similar photos.",
        see="Sooner or later a step is marked as not true. What a photo shows is recognised from "
        "a few hundred numbers, so colours, counts and small things are mistaken. The limit of "
        "what is listed is a choice: a lower one would list less, and be right more often.",
        button="Go to “a dog”",
        target="a dog",
    ),
)
COMPOSE = next(i for i, step in enumerate(STEPS) if step.button and not step.target)


def lesson() -> Markup:
    """Return the steps, with their buttons."""
    return render("hierarchy/lesson.html", steps=STEPS)
