"""What the panel shows, as values of its templates."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from vsdemo.core.language import message, number, percentage, translate, translate_count
from vsdemo.search.indexing import COMPARING, READING, REGIONS, SCANNING, IndexSummary
from vsdemo.ui.components import html
from vsdemo.ui.components.templates import render
from vsdemo.ui.indexing.folders import FolderList
from vsdemo.ui.indexing.indexes import KnownIndex
from vsdemo.ui.indexing.job import STARTING, IndexJob

TITLE = message("Add photos …")
MAX_PROBLEMS = 100  # files that are named
STOPPED = message("Stopped. What is done is kept; “Index again” continues.")
STAGES = {  # stage of a run: how the page calls it
    STARTING: message("starting"),
    SCANNING: message("listing the folder"),
    COMPARING: message("reading thumbnails"),
    READING: message("reading photos"),
    REGIONS: message("looking at regions"),
}


def title(job: IndexJob | None) -> str:
    """Return the label of the panel, which says how far a run is."""
    if job is None or job.ended:
        return translate(TITLE)
    if not job.total:
        return translate("Indexing …")
    return translate("Indexing {share}", share=percentage(job.done / job.total))


def folders(listed: FolderList) -> Markup:
    """Return a folder and where to go from there; a click reports the number of a choice."""
    return render("indexing/folders.html", listed=listed)


def status(job: IndexJob | None) -> Markup:
    """Return how far a run is, or how it ended."""
    if job is None:
        return Markup()
    if not job.ended:
        stage = f"{job.name}: {translate(STAGES.get(job.stage, job.stage))}"
        if job.is_stopping:
            stage = translate("Stopping")
        return html.progress(stage, job.done, job.total, seconds_left=job.seconds_left)
    if job.problem:
        return html.problem(job.problem)
    if job.summary is None:
        return html.note(translate(STOPPED))
    problems = [(path, _reason(path, why)) for path, why in job.summary.problems.items()]
    return render(
        "indexing/summary.html",
        summary=job.summary,
        text=_text(job.summary),
        problems=problems[:MAX_PROBLEMS],
        more=len(problems[MAX_PROBLEMS:]),
    )


def _text(summary: IndexSummary) -> str:
    """Return what a run has done, in a few words."""
    counts = {
        message("{count} new"): summary.new,
        message("{count} changed"): summary.changed,
        message("{count} moved"): summary.moved,
        message("{count} removed"): summary.removed,
        message("{count} unreadable"): summary.unreadable,
    }
    changes = [translate(text, count=number(n)) for text, n in counts.items() if n]
    photos = translate_count("{count} photo", "{count} photos", summary.photos)
    details = ", ".join(changes) or translate("nothing new")
    return f"{photos} ({details})"


def _reason(path: str, why: str) -> str:
    """Return why a file cannot be read without its name, which stands before it."""
    return why.removeprefix(f"{path.rpartition('/')[2]} ")


def indexes(known: Sequence[KnownIndex], *, removing: str = "", is_busy: bool = False) -> Markup:
    """Return the indexes with buttons to index them again and to remove them.

    Args:
        known: The indexes.
        removing: Name of the one whose removal is to be confirmed.
        is_busy: Whether a folder is being indexed.
    """
    return render("indexing/indexes.html", known=known, removing=removing, is_busy=is_busy)
