"""What the tab Align shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from vsdemo.core.alignment import Alignment
from vsdemo.core.errors import UserError
from vsdemo.core.images import save_image
from vsdemo.core.language import ENGLISH, message, number, speaking, translate
from vsdemo.core.paths import write_text
from vsdemo.plots import overlay_png, overlay_svg
from vsdemo.plots.region_marks import decimals, phrase
from vsdemo.ui.components.sentence import phrases_shown
from vsdemo.ui.programs.call import OWN_PHOTO, ProgramCall
from vsdemo.ui.tabs import Selection

NOT_ALIGNED = message("Nothing is aligned yet; type a sentence first.")
SHORT_CAPTION = 12  # words
FILES = ("png", "svg", "json")


@dataclass(frozen=True)
class AlignState:
    """The photo and the sentence on the page, and their alignment.

    Attributes:
        text: The sentence.
        model: Key of the model.
        gallery: Key of the gallery.
        photo: Number of the photo in the gallery; None for an upload.
        upload: File of a visitor's photo.
        aligned_by: Key of the model that aligned them, which may be another one.
        alignment: The alignment; None before there is one.
        before: The alignment of the same photo with the sentence before this one, by the same
            model; None if there was none.
        selection: What the visitor has selected.
    """

    text: str
    model: str
    gallery: str
    photo: int | None = None
    upload: str | None = None
    aligned_by: str = ""
    alignment: Alignment | None = None
    before: Alignment | None = None
    selection: Selection = field(default_factory=Selection)

    @property
    def address(self) -> dict[str, str]:
        """What the address bar of the browser shows; never a visitor's photo."""
        values = {"tab": "align", "q": self.text, "model": self.model, "gallery": self.gallery}
        return values if self.photo is None else {**values, "photo": str(self.photo)}

    @property
    def call(self) -> ProgramCall | None:
        """What a program would ask for."""
        if self.alignment is None:
            return None
        return ProgramCall(
            "align",
            texts={"sentence": self.text},
            photo=OWN_PHOTO if self.photo is None else self.photo,
            model=self.aligned_by or self.model,
            gallery=self.gallery,
        )

    @property
    def summary(self) -> str:
        """How many phrases the photo shows, not counting function words, and by which model."""
        if self.alignment is None:
            return ""
        return " ".join(filter(None, (phrases_shown(self.alignment), self._reason, self._change)))

    @property
    def _reason(self) -> str:
        """Which model has aligned them, and why if it is not the chosen one."""
        if self.aligned_by == self.model:
            return translate("Aligned by {model}.", model=self.aligned_by)
        return translate(
            "Aligned by {model}, because {chosen} has one embedding for a whole photo.",
            model=self.aligned_by,
            chosen=self.model,
        )

    @property
    def _change(self) -> str:
        """By how much another sentence changed the score, as a sentence; empty without one."""
        if self.alignment is None or self.before is None:
            return ""
        one, other = self.before.total, self.alignment.total
        digits = decimals([one, other])
        sign = "+" if other >= one else ""
        return translate(
            "Score {score}, {change} compared with “{sentence}”.",
            score=number(other, digits),
            change=sign + number(other - one, digits),
            sentence=" ".join(self.before.words),
        )

    @property
    def choice_count(self) -> int:
        """How many things can be chosen: fragments, words and the whole sentence."""
        if self.alignment is None:
            return 1
        return len(self.alignment.fragments) + len(self.alignment.words) + 1

    def choice_text(self, number: int) -> str:
        """Return the text of a choice. Raises UserError if there is nothing to choose from."""
        if self.alignment is None:
            raise UserError(NOT_ALIGNED)
        fragments = len(self.alignment.fragments)
        if number < fragments:
            return phrase(self.alignment, number)
        return [*self.alignment.words, self.text][number - fragments]

    def write(self, image: Image.Image, name: str, folder: Path) -> tuple[str, ...]:
        """Write the alignment into `folder`, and return the paths of a PNG, an SVG and a JSON file.

        Args:
            image: The photo.
            name: Name of the photo in the JSON.
            folder: Where to write; each alignment has its own folder there.

        Raises:
            UserError: If there is no alignment yet.
        """
        if self.alignment is None:
            raise UserError(NOT_ALIGNED)
        record = {
            "photo": name,
            "sentence": self.text,
            "model": self.aligned_by,
            **self.alignment.to_json(),
        }
        text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
        key = hashlib.sha256((str(image.size) + text).encode()).hexdigest()[:32]
        png, svg, record_file = (folder / key / f"alignment.{kind}" for kind in FILES)
        if not record_file.exists():
            with speaking(ENGLISH):  # visitors share the files
                save_image(overlay_png(image, self.alignment), png)
                write_text(svg, overlay_svg(image, self.alignment))
            write_text(record_file, text)
        return str(png), str(svg), str(record_file)


def default_caption(captions: Sequence[str]) -> str:
    """Return the longest short caption; else the first, if there is one."""
    short = [text for text in captions if len(text.split()) <= SHORT_CAPTION]
    return max(short or captions[:1], key=len, default="")
