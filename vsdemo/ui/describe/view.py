"""What the tab Describe shows besides the components that it shares with other tabs."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from vsdemo.core.errors import UserError
from vsdemo.core.language import number, translate
from vsdemo.core.paths import shorten_paths
from vsdemo.models.scores import Score
from vsdemo.search.description import likely_text
from vsdemo.ui.components import html
from vsdemo.ui.components.templates import render
from vsdemo.ui.describe.state import Ranking


def pick_label() -> Markup:
    """Return the line above the photos to pick from."""
    return render("describe/pick_label.html")


def photo_text(text: str) -> Markup:
    """Return the alternative text of the photo, which a script gives to it."""
    return render("describe/photo_text.html", text=text)


def ranked_sentences(ranking: Ranking, score: Score, chosen: str) -> Markup:
    """Return the sentences, and which model ranked them; the reason if it is not the chosen one."""
    likely = Markup()
    if ranking.likely is not None:
        likely = render("describe/likely.html", text=likely_text(ranking.likely))
    sentences = html.ranked_sentences(ranking.hits, score, ranking.own)
    return likely + html.note(_summary(ranking, chosen)) + sentences


def _summary(ranking: Ranking, chosen: str) -> str:
    """Return how many sentences are shown, and by which model."""
    model, is_chosen = ranking.model, ranking.model == chosen
    if ranking.is_typed and is_chosen:
        return translate("Your sentences, ranked by {model}.", model=model)
    if ranking.is_typed:
        return translate(
            "Your sentences, ranked by {model}, because {chosen} has only seen drawings.",
            model=model,
            chosen=chosen,
        )
    count, total = number(len(ranking.hits)), number(ranking.total)
    if is_chosen:
        return translate(
            "Best {count} of {total} sentences by {model}.", count=count, total=total, model=model
        )
    return translate(
        "Best {count} of {total} sentences by {model}, because {chosen} has only seen drawings.",
        count=count,
        total=total,
        model=model,
        chosen=chosen,
    )


def own_captions(sentences: Sequence[str], error: UserError) -> Markup:
    """Return the captions of the photo itself, and why there are no others."""
    reason = shorten_paths(str(error))
    text = translate(
        "Written for this photo. Other sentences are not available: {reason}",
        reason=translate(reason),
    )
    return html.note(text) + html.sentence_list(sentences, ())
