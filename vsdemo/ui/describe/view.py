"""What the tab Describe shows beside the components that it shares with other tabs."""

from __future__ import annotations

from markupsafe import Markup

from vsdemo.core.errors import UserError
from vsdemo.ui.components.templates import render
from vsdemo.ui.describe.state import Ranking


def pick_label() -> Markup:
    """Return the line above the photos to pick from."""
    return render("describe/pick_label.html")


def photo_text(text: str) -> Markup:
    """Return the alternative text of the photo, which a script gives to it."""
    return render("describe/photo_text.html", text=text)


def summary(ranking: Ranking, chosen: str) -> str:
    """Return how many sentences are on the page, by which model; another one has a reason."""
    text = f"Best {len(ranking.hits):,} of {ranking.total:,} sentences by {ranking.model}"
    if ranking.model == chosen:
        return f"{text}."
    return f"{text}, because {chosen} has only seen drawings."


def own_captions_summary(error: UserError) -> str:
    """Return why there are only the captions of the photo itself."""
    return f"Written for this photo. Other sentences are not available: {error}"
