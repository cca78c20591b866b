"""What the tab Train shows."""

from __future__ import annotations

from dataclasses import dataclass, field

from vsdemo.ui.programs.call import ProgramCall
from vsdemo.ui.tabs import Selection


@dataclass(frozen=True)
class TrainState:
    """The runs that a page shows.

    Attributes:
        shown: Names of runs; the first is shown in full, the others only as curves.
        sentence: Number of the watched sentence whose photos are shown.
        model: Key of the model, which the tab does not use.
        gallery: Key of the gallery, which the tab does not use.
        selection: What the visitor has selected.
    """

    shown: tuple[str, ...] = ()
    sentence: int = 0
    model: str = ""
    gallery: str = ""
    selection: Selection = field(default_factory=Selection)

    @property
    def address(self) -> dict[str, str]:
        """What the address bar of the browser shows."""
        runs = {"run": self.shown[0]} if self.shown else {}
        return {"tab": "train", **runs, "model": self.model, "gallery": self.gallery}

    @property
    def call(self) -> ProgramCall | None:
        """None: programs train by the command that the tab shows."""
        return None
