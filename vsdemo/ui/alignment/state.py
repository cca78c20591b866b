"""What the tab Align is asked: a photo, a sentence and, when it is there, their alignment."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from PIL import Image

from vsdemo.core.alignment import Alignment
from vsdemo.core.errors import UserError
from vsdemo.core.images import save_image
from vsdemo.core.paths import write_text
from vsdemo.plots import overlay_png
from vsdemo.plots.region_marks import phrase


@dataclass(frozen=True)
class Asked:
    """The photo and the sentence on the page; `done` when somebody has looked."""

    text: str
    model: str
    gallery: str
    photo: int | None = None  # number in `gallery`
    upload: str | None = None
    done: bool = False
    by: str = ""  # the model that aligned them
    alignment: Alignment | None = None

    @property
    def address(self) -> dict[str, str]:
        """What the address bar says; a visitor's own photo is not part of it."""
        values = {"tab": "align", "q": self.text, "model": self.model, "gallery": self.gallery}
        return values if self.photo is None else {**values, "photo": str(self.photo)}

    @property
    def summary(self) -> str:
        """How much of the sentence is grounded, and by which model."""
        if self.alignment is None:
            return ""
        count = len(self.alignment.fragments)
        seen = sum(self.alignment.best_region(m) is not None for m in range(count))
        told = f"Grounded in a region: {seen} of {count} fragments."
        if self.by == self.model:
            return told
        return f"{told} Aligned by {self.by}, as {self.model} has one point for a whole photo."

    def words_of(self, number: int) -> str:
        """What can be chosen: a fragment, a word, or at the end the whole sentence.

        Raises UserError where there is nothing to choose from."""
        if self.alignment is None:
            raise UserError("Nothing is aligned yet; type a sentence first.")
        first = len(self.alignment.fragments)
        if number < first:
            return phrase(self.alignment, number)
        return [*self.alignment.words, self.text][number - first]

    @property
    def choices(self) -> int:
        """How many things `words_of` knows."""
        found = self.alignment
        return len(found.fragments) + len(found.words) + 1 if found else 1

    def write(self, opened: Image.Image, name: str, folder: Path) -> tuple[str, str]:
        """Writes the alignment as a picture and as JSON; where they are."""
        if self.alignment is None:
            raise UserError("Nothing is aligned yet; type a sentence first.")
        head = {"photo": name, "sentence": self.text, "model": self.by}
        text = json.dumps({**head, **asdict(self.alignment)}, indent=1, ensure_ascii=False) + "\n"
        own = folder / hashlib.sha256((str(opened.size) + text).encode()).hexdigest()[:32]
        png, written = own / "alignment.png", own / "alignment.json"
        if not written.exists():
            save_image(overlay_png(opened, self.alignment), png)
            write_text(written, text)
        return str(png), str(written)
