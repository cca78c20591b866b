"""`python -m vsdemo runs`: the trainings below VSDEMO_HOME, those that the app began too."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vsdemo.cli.options import Json

if TYPE_CHECKING:
    from vsdemo.training.jobs.jobs import Run

LOOK = 0.5  # seconds between two looks
Name = Annotated[str, typer.Argument(help="Of a run; `vsdemo runs` lists them.")]

cli = typer.Typer(invoke_without_command=True)


@cli.callback()
def runs(context: typer.Context, as_json: Json = False) -> None:
    """List the trainings, the newest first, or follow, stop, resume, delete one."""
    from vsdemo.training.jobs import jobs

    if context.invoked_subcommand:
        return
    found = [_told(run) for run in jobs.list_runs()]
    if as_json:
        return print(json.dumps(found, indent=1, ensure_ascii=False))
    for told in found:
        best = "" if told["best"] is None else f"{told['best']:.1f}"
        begun = time.strftime("%Y-%m-%d %H:%M", time.localtime(told["begun"]))
        what = f"{told['preset']:18} {told['dataset'] or '':12}"
        print(f"{told['name']:20} {told['state']:10} {what} {best:>6}  {begun}")
    if not found:
        print("There are no runs yet; the tab Train of `vsdemo app` begins them.")


@cli.command()
def follow(name: Name) -> None:
    """Show how far a run is, until it ends; Ctrl-C leaves it alone."""
    from tqdm import tqdm

    from vsdemo.training.jobs import jobs

    run = jobs.get_run(name)
    try:
        with tqdm(desc=name, unit="step", mininterval=0) as bar:
            while (state := run.state) in jobs.ALIVE:
                _show(bar, run.events, state)
                time.sleep(LOOK)
            _show(bar, run.events, state)
    except KeyboardInterrupt:
        return print(f"{name} is left alone.")
    print(f"{name} is {state}." + (f" {run.problem}" if state == "failed" else ""))


@cli.command()
def stop(name: Name) -> None:
    """Save a run and end it; waits until it has ended."""
    from vsdemo.training.jobs import jobs

    live = jobs.current()
    run = live if live and live.name == name else jobs.get_run(name)
    jobs.stop(name)
    while run.alive:
        time.sleep(LOOK)
    print(f"{name} is {run.state}.")


@cli.command()
def resume(name: Name) -> None:
    """Go on with a run that was stopped or killed, or that failed."""
    from vsdemo.training.jobs import jobs

    jobs.resume(name)
    print(f"{name} goes on. Next: python -m vsdemo runs follow {name}")


@cli.command()
def delete(name: Name) -> None:
    """Remove a run that has ended, with its checkpoint."""
    from vsdemo.training.jobs import jobs

    jobs.delete(name)
    print(f"{name} is deleted.")


def _told(run: Run) -> dict[str, Any]:
    """What the list says of a run. best: of what it is chosen by, on dev."""
    from vsdemo.core import event_reader

    best = event_reader.best(run.events)
    return {
        "name": run.name,
        "state": run.state,
        "preset": run.spec.preset,
        "dataset": run.spec.dataset,
        "best": best[1] if best else None,
        "begun": run.started,
        "folder": str(run.folder),
    }


def _show(bar: Any, events: list[dict[str, Any]], state: str) -> None:
    """Moves a bar of tqdm to where the events are."""
    from vsdemo.core import event_reader

    for event in events:
        if event["kind"] == "start":
            bar.total = event.get("steps")
    if best := event_reader.best(events):
        bar.set_postfix({f"best_dev_{best[0]}": best[1]}, refresh=False)
    bar.n = events[-1]["step"] if events else 0
    bar.set_description(f"{bar.desc.partition(' (')[0]} ({state})")
