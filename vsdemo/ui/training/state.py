"""What the tab Train shows."""

from __future__ import annotations

from dataclasses import dataclass, field

from vsdemo.ui.programs.call import ProgramCall
from vsdemo.ui.tabs import Selection

REPLAY, BESIDE = "replay", "beside"  # in addresses: a recorded training, and another one


@dataclass(frozen=True)
class TrainState:
    """The runs that a page shows.

    Attributes:
        shown: Names of runs; the first is shown in full, the others only as curves.
        sentence: Number of the watched sentence whose photos are shown.
        replay: The recorded training in the panel; empty as long as that was not opened.
        beside: The recorded training beside it; empty without one.
        model: Key of the model, which the tab does not use.
        gallery: Key of the gallery, which the tab does not use.
        selection: What the visitor has selected.
    """

    shown: tuple[str, ...] = ()
    sentence: int = 0
    replay: str = ""
    beside: str = ""
    model: str = ""
    gallery: str = ""
    selection: Selection = field(default_factory=Selection)

    @property
    def address(self) -> dict[str, str]:
        """What the address bar of the browser shows."""
        runs = {"run": self.shown[0]} if self.shown else {}
        place = {"tab": "train", **runs, **self.recordings}
        return {**place, "model": self.model, "gallery": self.gallery}

    @property
    def recordings(self) -> dict[str, str]:
        """The part of the address that is about recorded trainings."""
        names = {REPLAY: self.replay, BESIDE: self.beside}
        return {key: name for key, name in names.items() if name}

    @property
    def call(self) -> ProgramCall | None:
        """None: programs train by the command that the tab shows."""
        return None
