"""`python -m vsdemo fetch ...`: downloads that go on where they ended."""

from __future__ import annotations

from threading import Event
from typing import Annotated

import typer

STOPPED = 130  # exit code after Ctrl-C


def fetch(
    name: Annotated[str | None, typer.Argument(help="What to fetch; without it, a list.")] = None,
) -> None:
    """Download a data set or an image network. Ctrl-C stops, the same command goes on."""
    from vsdemo.core.paths import fetch_root
    from vsdemo.data.downloads import fetch as fetching

    if name is None:
        return _list()
    wanted = fetching.thing(name)
    if wanted.missing:
        print(wanted)
    try:
        _with_bar(name)
    except KeyboardInterrupt:
        print(f"Stopped; {fetching.amount(wanted.come)} are here, the same command goes on.")
        raise typer.Exit(STOPPED) from None
    print(f"{wanted.title} is here: {fetch_root()}")


def _with_bar(name: str) -> None:
    from tqdm import tqdm

    from vsdemo.data.downloads.fetch import fetch

    with tqdm(unit="B", unit_scale=True, disable=None) as bar:

        def told(what: str, done: int, of: int) -> None:
            bar.set_description(what, refresh=False)
            bar.total = of or None
            bar.update(done - bar.n)

        fetch(name, told, Event())


def _list() -> None:
    from vsdemo.core.paths import fetch_root
    from vsdemo.data.downloads import fetch

    print(f"Into {fetch_root()}, by `python -m vsdemo fetch NAME`:")
    for name, thing in fetch.THINGS.items():
        state = "missing" if thing.missing else "here"
        begun = f"; {fetch.amount(thing.come)} have come" if thing.come else ""
        print(f"  {state:8} {name:12} {thing}{begun}")
