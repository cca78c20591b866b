"""`runs`: trainings below VSDEMO_HOME, including those started in the app."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vsdemo.cli.options import Json
from vsdemo.cli.output import print_json, print_table

if TYPE_CHECKING:
    from vsdemo.training.jobs.jobs import Run

POLL_SECONDS = 0.5
Name = Annotated[str, typer.Argument(help="Name of a run; see `vsdemo runs`.")]

cli = typer.Typer(invoke_without_command=True)


@cli.callback()
def runs(context: typer.Context, *, as_json: Json = False) -> None:
    """List, follow, stop, resume and delete runs.

    Without a command, list them, newest first.
    """
    from vsdemo.training.jobs import jobs

    if context.invoked_subcommand:
        return
    records = [_record(run) for run in jobs.list_runs()]
    if as_json:
        print_json(records)
    elif records:
        print_table([_row(record) for record in records])
    else:
        print("There are no runs yet; start one in the tab Train of `vsdemo app`.")


@cli.command()
def follow(name: Name) -> None:
    """Show the progress of a run until it ends; Ctrl-C does not stop the run."""
    from tqdm import tqdm

    from vsdemo.training.jobs import jobs

    run = jobs.get_run(name)
    try:
        with tqdm(desc=name, unit="step", mininterval=0) as bar:
            while (state := run.state) in jobs.ALIVE:
                _update(bar, run.events, state)
                time.sleep(POLL_SECONDS)
            _update(bar, run.events, state)
    except KeyboardInterrupt:
        print(f"{name} continues.")
        return
    print(f"{name}: {state}." + (f" {run.problem}" if state == "failed" else ""))


@cli.command()
def stop(name: Name) -> None:
    """Save and stop a run, and wait until it has ended."""
    from vsdemo.training.jobs import jobs

    current = jobs.current()
    run = current if current and current.name == name else jobs.get_run(name)
    jobs.stop(name)
    while run.alive:
        time.sleep(POLL_SECONDS)
    print(f"{name}: {run.state}.")


@cli.command()
def resume(name: Name) -> None:
    """Resume a run that was stopped or killed, or that failed."""
    from vsdemo.training.jobs import jobs

    jobs.resume(name)
    print(f"{name} resumed. Next: python -m vsdemo runs follow {name}")


@cli.command()
def delete(name: Name) -> None:
    """Delete a run that has ended, with its checkpoint."""
    from vsdemo.training.jobs import jobs

    jobs.delete(name)
    print(f"{name} deleted.")


def _record(run: Run) -> dict[str, Any]:
    """Return a run as JSON; `best` is the metric on dev that the checkpoint is chosen by."""
    from vsdemo.core import event_reader

    best = event_reader.best_metric(run.events)
    return {
        "name": run.name,
        "state": run.state,
        "preset": run.spec.preset,
        "dataset": run.spec.dataset,
        "best": best[1] if best else None,
        "started": run.started,
        "folder": str(run.folder),
    }


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    return (
        record["name"],
        record["state"],
        record["preset"],
        record["dataset"] or "",
        "" if record["best"] is None else f"{record['best']:.1f}",
        time.strftime("%Y-%m-%d %H:%M", time.localtime(record["started"])),
    )


def _update(bar: Any, events: Sequence[dict[str, Any]], state: str) -> None:
    """Move a progress bar of tqdm to the last event."""
    from vsdemo.core import event_reader

    for event in events:
        if event["kind"] == "start":
            bar.total = event.get("steps")
    if best := event_reader.best_metric(events):
        bar.set_postfix({f"best_dev_{best[0]}": best[1]}, refresh=False)
    bar.n = events[-1]["step"] if events else 0
    bar.set_description(f"{bar.desc.partition(' (')[0]} ({state})")
