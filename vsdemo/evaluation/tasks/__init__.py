"""The tasks that models are measured on, one module each; no task imports another."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vsdemo.core.errors import UserError

if TYPE_CHECKING:  # keeps `vsdemo --help` fast
    from vsdemo.evaluation.task import Task

TASKS = {  # name -> "module:Class"; add an entry to register a task
    "retrieval": "vsdemo.evaluation.tasks.retrieval:Retrieval",
    "first_captions": "vsdemo.evaluation.tasks.first_captions:FirstCaptions",
    "lengths": "vsdemo.evaluation.tasks.lengths:Lengths",
    "similarity": "vsdemo.evaluation.tasks.similarity:Similarity",
    "verbs": "vsdemo.evaluation.tasks.verbs:Verbs",
    "paraphrases": "vsdemo.evaluation.tasks.paraphrases:Paraphrases",
    "typos": "vsdemo.evaluation.tasks.typos:Typos",
    "absent": "vsdemo.evaluation.tasks.absent:Absent",
    "truth": "vsdemo.evaluation.tasks.truth:Truth",
    "twins": "vsdemo.evaluation.tasks.twins:Twins",
    "descriptions": "vsdemo.evaluation.tasks.descriptions:Descriptions",
    "compositions": "vsdemo.evaluation.tasks.compositions:Compositions",
    "voices": "vsdemo.evaluation.tasks.active_passive:ActivePassive",
    "detail": "vsdemo.evaluation.tasks.caption_detail:CaptionDetail",
    "entailment": "vsdemo.evaluation.tasks.entailment:Entailment",
    "chains": "vsdemo.evaluation.tasks.chains:Chains",
    "walks": "vsdemo.evaluation.tasks.walks:Walks",
    "hierarcaps": "vsdemo.evaluation.tasks.hierarcaps:HierarCaps",
    "compositional": "vsdemo.evaluation.tasks.compositional:Compositional",
    "alignment": "vsdemo.evaluation.tasks.alignment:Alignment",
    "sts": "vsdemo.evaluation.tasks.sts:SentenceSimilarity",
    "nli": "vsdemo.evaluation.tasks.nli:Inference",
    "hypernyms": "vsdemo.evaluation.tasks.hypernyms:Hypernyms",
    "concept_walks": "vsdemo.evaluation.tasks.concept_walks:ConceptWalks",
}


def task(name: str, **options: Any) -> Task:
    """Return the task with this name.

    Args:
        name: A key of TASKS.
        options: Values of the options that the task declares.

    Raises:
        UserError: There is no such task (the message lists the valid ones), or it has no such
            option.
    """
    if name not in TASKS:
        raise UserError(f"There is no task {name!r}; use one of {', '.join(TASKS)}.")
    kind = _load(name)
    for option in options:
        if option not in kind.options:
            owners = ", ".join(other for other in TASKS if option in _load(other).options)
            raise UserError(
                f"The task {name} has no option {option}, which is for {owners or 'no task'}; "
                f"leave --{option.replace('_', '-')} out."
            )
    result: Task = kind(**options)
    return result


def _load(name: str) -> Any:
    """Return the class of a task."""
    module, _, kind = TASKS[name].partition(":")
    return getattr(import_module(module), kind)
