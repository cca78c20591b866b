"""What the tab Sentences compares."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PairState:
    """Two sentences, the model and the gallery.

    `active` is true once the tab has been opened; before, the sentences wait.
    """

    texts: tuple[str, str]
    model: str
    gallery: str
    active: bool = False

    @property
    def address(self) -> dict[str, str]:
        """What the address bar of the browser shows."""
        first, second = self.texts
        return {
            "tab": "sentences",
            "a": first,
            "b": second,
            "model": self.model,
            "gallery": self.gallery,
        }
