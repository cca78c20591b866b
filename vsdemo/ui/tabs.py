"""What the tabs of the page have in common: a protocol, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, ClassVar, Protocol

import gradio as gr

from vsdemo.ui import callbacks
from vsdemo.ui.callbacks import Update, Updates
from vsdemo.ui.components import html
from vsdemo.ui.downloads import Downloads
from vsdemo.ui.library import Library
from vsdemo.ui.library.pending import Pending
from vsdemo.ui.programs.call import ProgramCall
from vsdemo.ui.programs.view import panel
from vsdemo.ui.uploads import Uploads

FIRST_K = 12  # photos at a time, until a visitor chooses another number
SIMILAR = "similar"  # in addresses: the photo that is the query of a search,
OWN = "own"  # as its number or, for a visitor's photo, as this word


@dataclass(frozen=True)
class Selection:
    """What a visitor has selected, which is carried from tab to tab.

    Attributes:
        text: A sentence; empty if there is none.
        photo: Number of a photo in `gallery`; None if there is none.
        gallery: Key of the gallery of `photo`.
        upload: File of a visitor's photo, instead of one of a gallery.
        other: Names and values in the page's address that concern one tab only.
    """

    text: str = ""
    photo: int | None = None
    gallery: str = ""
    upload: str | None = None
    other: tuple[tuple[str, str], ...] = ()

    def photo_in(self, gallery: str) -> int | None:
        """Return the number of the photo if it is of this gallery."""
        return self.photo if self.gallery == gallery and not self.upload else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is selected."""
        return not self.text and self.photo is None and not self.upload

    @property
    def similar(self) -> Selection:
        """What lets the tab Search show photos that are similar to the selected one."""
        value = OWN if self.upload else str(self.photo or 0)
        return Selection("", self.photo, self.gallery, self.upload, other=((SIMILAR, value),))

    def value(self, name: str) -> str | None:
        """Return a value of the page's address that concerns one tab only; None without it."""
        return dict(self.other).get(name)


@dataclass(frozen=True)
class Visit:
    """What a tab is to show when it is opened, or when the settings change meanwhile.

    Attributes:
        model: Key of the model.
        gallery: Key of the gallery.
        k: Photos to show at a time.
        selection: What the visitor has selected.
        restored: How often Back or Forward had been used when the visit began.
        number: Distinguishes visits that are otherwise equal.
        page: The request of the page while the tab shows the visit.
        is_renewed: Whether the photos of the gallery have changed, so that what is shown is old.
    """

    model: str
    gallery: str
    k: int = FIRST_K
    selection: Selection = field(default_factory=Selection)
    restored: int = 0
    number: int = field(default_factory=count().__next__)
    page: gr.Request | None = None
    is_renewed: bool = False


class TabState(Protocol):
    """What a tab shows.

    One that is stored before its answer is there has the property `is_pending`.
    """

    @property
    def model(self) -> str:
        """Key of the model."""

    @property
    def gallery(self) -> str:
        """Key of the gallery."""

    @property
    def selection(self) -> Selection:
        """What was selected when the tab showed it, or was selected there."""

    @property
    def address(self) -> Mapping[str, str]:
        """What the address bar of the browser shows."""

    @property
    def call(self) -> ProgramCall | None:
        """What a program would ask for; None if programs cannot."""


def is_shown(visit: Visit, state: TabState | None) -> bool:
    """Whether a tab already shows what it is to show."""
    return (
        state is not None
        and not visit.is_renewed
        and not getattr(state, "is_pending", False)
        and (state.model, state.gallery) == (visit.model, visit.gallery)
        and state.selection == visit.selection
    )


@dataclass(frozen=True)
class Context:
    """What all tabs share: the library, the settings of the page, and what is selected.

    Attributes:
        library: Models, galleries and engines.
        model: Holds the key of the model.
        gallery: Widget with the key of the gallery.
        k: Widget with the number of photos to show at a time.
        selection: Holds the `Selection`.
        address: Widget that keeps the address bar of the browser up to date.
        programs: Widget that shows how a program gets what the open tab shows.
        tabs: Widget with the tabs.
        visits: By key of a tab, holds the `Visit` that the tab shows or is to show.
        uploads: Names of visitors' photos for the address bar.
        downloads: The downloads of the app.
        fetched: Holds the names of the downloads that the page knows to be complete.
    """

    library: Library
    model: gr.State
    gallery: Any
    k: gr.Slider
    selection: gr.State
    address: gr.HTML
    programs: gr.HTML
    tabs: gr.Tabs
    visits: Mapping[str, gr.State]
    uploads: Uploads
    downloads: Downloads
    fetched: gr.State

    @property
    def settings(self) -> list[Any]:
        """The widgets with model, gallery and number of photos."""
        return [self.model, self.gallery, self.k]

    @property
    def place(self) -> list[Any]:
        """Every widget that `record` changes."""
        return [self.selection, self.address, self.programs]

    @property
    def navigation(self) -> list[Any]:
        """Every widget that `go` changes."""
        return [self.selection, self.tabs]

    def record(self, state: TabState, upload: str | None = None) -> Update:
        """Return the address of what a tab shows, and what is carried to other tabs.

        Args:
            state: What the tab shows.
            upload: File of a visitor's photo that belongs to the address; by default the selected
                one.
        """
        upload = upload or state.selection.upload
        token = self.uploads.token(upload) if upload else ""
        return {
            self.selection: state.selection,
            self.address: html.Address(state.address, token),
            self.programs: panel(self.library, state.call),
        }

    def go(self, tab: str, selection: Selection) -> Update:
        """Return what opens a tab with a selection."""
        return {self.selection: selection, self.tabs: gr.Tabs(selected=tab)}

    def guard(
        self,
        tab: Tab,
        *,
        note: gr.HTML | None = None,
        channel: str | None = None,
        ended_by: Sequence[str] = (),
    ) -> Callable[[Callable[..., Updates]], Callable[..., Updates]]:
        """Return a decorator for callbacks of a tab; see `callbacks.report_errors`.

        Args:
            tab: The tab.
            note: Where errors are shown; by default the note of the tab.
            channel: What the callback fills; by default the tab.
            ended_by: Other channels, whose newer requests end the callback, too.
        """
        return callbacks.report_errors(
            tab.note if note is None else note,
            tab.key if channel is None else channel,
            ended_by=ended_by,
            tab=tab.key,
            place=self.place,
        )


class Tab(Protocol):
    """A tab of the page: a folder with a class like this, and a line in `vsdemo.ui.TABS`.

    Its constructor creates the widgets and connects the events that concern only this tab. The
    page calls `show` when the tab is opened, when the page loads on it, when Back or Forward lead
    to it, and when a visitor chooses another model or gallery while it is open. A hidden tab does
    no work.

    Attributes:
        key: The name in addresses and of the requests' channel.
        title: The name on the page.
        note: Where progress and errors are shown.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    note: gr.HTML

    def __init__(self, context: Context) -> None: ...

    @property
    def inputs(self) -> Sequence[Any]:
        """The widgets whose values `show` takes after the visit; first the state of the tab."""

    @property
    def outputs(self) -> Sequence[Any]:
        """Every widget that `show` may change."""

    def begin_loading(self, visit: Visit) -> Sequence[Pending[Any]]:
        """Begin to load what `show` will wait for, while the page itself is being loaded."""

    def show(self, visit: Visit, *values: Any) -> Updates:
        """Show what is to be shown, unless the tab shows it already; record its address."""
