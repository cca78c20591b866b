"""What the list of models shows, as values of its templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from vsdemo.core.language import message, translate
from vsdemo.ui.components.html import duration
from vsdemo.ui.components.templates import render
from vsdemo.ui.library.offers import ModelOffer, OfferGroup, State

STATUS = {  # of states without a time
    State.READY: message("ready"),
    State.PREPARING: message("preparing"),
    State.UNMEASURED: message("not measured yet"),
    State.FAILED: message("could not be opened"),
    State.UNAVAILABLE: message("not available"),
}
MEASURING = message("measuring …")


@dataclass(frozen=True)
class Row:
    """A model in the list.

    Attributes:
        offer: The model.
        status: What choosing it costs, in a few words.
        what: What it does, and where it comes from.
        facts: Its data, quality, image network and licence.
        current: Whether it is the chosen one.
    """

    offer: ModelOffer
    status: str
    what: str
    facts: str
    current: bool


def field(model: str, offer: ModelOffer | None) -> Markup:
    """Return the field of the header: the chosen model, and what it costs.

    Args:
        model: Key of the model.
        offer: What it costs; None if that is unknown.
    """
    return render("models/field.html", model=model, status=_status(offer) if offer else "")


def panel(
    groups: Sequence[OfferGroup], *, chosen: str, gallery: str, is_measuring: bool = False
) -> Markup:
    """Return all models in groups.

    Args:
        groups: The models.
        chosen: Key of the chosen model.
        gallery: Label of the gallery.
        is_measuring: Whether rates that are unknown are being measured.
    """
    rows = [
        (group, [_row(offer, chosen, is_measuring=is_measuring) for offer in group.offers])
        for group in groups
    ]
    return render("models/panel.html", groups=rows, gallery=gallery)


def waiting() -> Markup:
    """Return what the panel shows until the list is made."""
    return render("models/waiting.html")


def _row(offer: ModelOffer, chosen: str, *, is_measuring: bool) -> Row:
    paper = " ".join(str(part) for part in (offer.paper, offer.year) if part)
    facts = [
        translate("trained on {data}", data=offer.data) if offer.data else "",
        offer.quality.text if offer.quality else "",
        translate("image network {network}", network=offer.network) if offer.network else "",
        translate(offer.licence),
    ]
    return Row(
        offer=offer,
        status=_status(offer, is_measuring=is_measuring),
        what=_sentence([translate(offer.kind), paper]),
        facts=_sentence(facts),
        current=offer.key == chosen,
    )


def _status(offer: ModelOffer, *, is_measuring: bool = False) -> str:
    """Return "ready", "about 40 s", "about 5 min", "not available" and the like."""
    if offer.state is State.PREPARING and offer.seconds is not None:
        return translate("preparing, about {left} left", left=duration(offer.seconds))
    if offer.state is State.COSTS and offer.seconds is not None:
        return translate("about {time}", time=duration(max(offer.seconds, 1)))
    if offer.state is State.UNMEASURED and is_measuring:
        return translate(MEASURING)
    return translate(STATUS[offer.state])


def _sentence(parts: Sequence[str]) -> str:
    """Join what is not empty, and begin with a capital letter."""
    text = " · ".join(part for part in parts if part)
    return text[:1].upper() + text[1:]
