"""Tasks by name: what a checkpoint is measured on."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from vsdemo.core.errors import UserError

TASKS = {
    "retrieval": "vsdemo.evaluation.tasks.retrieval",
    "lengths": "vsdemo.evaluation.tasks.lengths",
    "similarity": "vsdemo.evaluation.tasks.similarity",
    "verbs": "vsdemo.evaluation.tasks.verbs",
    "paraphrases": "vsdemo.evaluation.tasks.paraphrases",
    "typos": "vsdemo.evaluation.tasks.typos",
    "voices": "vsdemo.evaluation.tasks.active_passive",
    "detail": "vsdemo.evaluation.tasks.caption_detail",
    "entailment": "vsdemo.evaluation.tasks.entailment",
    "chains": "vsdemo.evaluation.tasks.chains",
    "compositional": "vsdemo.evaluation.tasks.compositional",
    "alignment": "vsdemo.evaluation.tasks.alignment",
    "sts": "vsdemo.evaluation.tasks.sts",
    "nli": "vsdemo.evaluation.tasks.nli",
    "hypernyms": "vsdemo.evaluation.tasks.hypernyms",
}


def task(name: str) -> ModuleType:
    """A task's module. Raises UserError for an unknown name, listing the valid ones."""
    if name not in TASKS:
        raise UserError(f"There is no task {name!r}; valid are {', '.join(TASKS)}.")
    return import_module(TASKS[name])
