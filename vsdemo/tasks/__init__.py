"""Tasks by name: what a checkpoint is measured on."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from vsdemo.types import UserError

TASKS = {
    "retrieval": "vsdemo.tasks.retrieval",
    "lengths": "vsdemo.tasks.lengths",
    "similarity": "vsdemo.tasks.similarity",
    "verbs": "vsdemo.tasks.verbs",
    "paraphrases": "vsdemo.tasks.paraphrases",
    "typos": "vsdemo.tasks.typos",
    "voices": "vsdemo.tasks.voices",
    "detail": "vsdemo.tasks.detail",
    "entailment": "vsdemo.tasks.entailment",
    "chains": "vsdemo.tasks.chains",
    "compositional": "vsdemo.tasks.compositional",
    "alignment": "vsdemo.tasks.alignment",
    "sts": "vsdemo.tasks.sts",
    "nli": "vsdemo.tasks.nli",
    "hypernyms": "vsdemo.tasks.hypernyms",
}


def task(name: str) -> ModuleType:
    """A task's module. Raises UserError for an unknown name, listing the valid ones."""
    if name not in TASKS:
        raise UserError(f"There is no task {name!r}; valid are {', '.join(TASKS)}.")
    return import_module(TASKS[name])
