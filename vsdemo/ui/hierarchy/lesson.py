"""A lesson about orders in five steps, each with one thing to do and what to see."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from vsdemo.core.language import message
from vsdemo.ui.components.templates import render

COMPOSED = ("A person is outside.", "An animal is outside.")


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
        title=message("An order in the plane"),
        do=message("In the figure below, drag a concept out of the cone of the concept above it."),
        see=message(
            "Its line turns orange: a concept lies below another one only while it is inside its "
            "cone, that is, while both of its coordinates are at least as large."
        ),
    ),
    LessonStep(
        title=message("A walk that is true"),
        do=message("Start from a sentence and read the path above the map."),
        see=message(
            "From right to left each step says less, up to “anything”: words are left out, and "
            "the birds stand for the ducks. Each step that is known to follow is marked as true."
        ),
        button=message("Go to “Two yellow ducks swim in the sea under a cloudy sky.”"),
        target="Two yellow ducks swim in the sea under a cloudy sky.",
    ),
    LessonStep(
        title=message("What a cosine cannot say"),
        do=message("Go to “a dog”, then to “an animal” under Above."),
        see=message(
            "An animal is above a dog, but a dog is not above an animal: it is listed under "
            "Below. A cosine is the same in both directions, so it cannot tell which of two is the "
            "more general one."
        ),
        button=message("Go to “a dog”"),
        target="a dog",
    ),
    LessonStep(
        title=message("Two sentences in one"),
        do=message("Keep two items and click Compose, or let the button do both."),
        see=message(
            "Below the map are the sentences and photos that lie below both items, so they say "
            "what both say: somebody is outside, and so is an animal. Where nothing lies below "
            "both, nothing is listed."
        ),
        button=message("Compose “A person is outside.” and “An animal is outside.”"),
    ),
    LessonStep(
        title=message("What the model gets wrong"),
        do=message("Go to a photo with a mistake, and compare the photo with what is above it."),
        see=message(
            "The last step of the path is marked as not true. The model knows a photo by a few "
            "hundred numbers, which miss what is small, and mix up what looks alike. What is "
            "listed has a limit: a lower one would leave out such mistakes, but also much that is "
            "true."
        ),
        button=message("Go to a photo with a mistake"),
    ),
)
COMPOSE, MISTAKE = (i for i, step in enumerate(STEPS) if step.button and not step.target)


def lesson() -> Markup:
    """Return the steps, with their buttons."""
    return render("hierarchy/lesson.html", steps=STEPS, compose=COMPOSE)
