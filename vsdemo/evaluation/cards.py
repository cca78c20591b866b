"""Model cards, and the final measurement of a checkpoint that they report.

What differs between tasks (tags, description, table, legend) is declared by the task; see
`task.CardText`.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from vsdemo import models
from vsdemo.core import events
from vsdemo.core.config import text_of
from vsdemo.core.errors import UserError
from vsdemo.core.paths import AnyPath, to_path, write_text
from vsdemo.data import datasets
from vsdemo.evaluation import order_limits
from vsdemo.evaluation.evaluate import evaluate
from vsdemo.evaluation.task import CardText, Result, Task
from vsdemo.evaluation.tasks import task
from vsdemo.models import captioner, checkpoint, licences
from vsdemo.models.checkpoint import Spec
from vsdemo.models.licences import Licence
from vsdemo.vision.backbones.families import DIFFERENCE

SPLITS = ("dev", "test")
CAPTIONER = (
    f"`{captioner.FILE}` writes sentences about photos (`describe --compose`): a GRU that attends\n"
    "to regions (Xu et al. 2015), trained on the same captions by `vsdemo train-captioner`."
)
STORED_MAP = (
    "The checkpoint holds weights, a list of words, and a map of test photos, without the photos; "
    "of generated\ndata sets also with their captions."
)
GENERIC = CardText(
    tags=("visual-semantic-embeddings",),
    description=lambda spec: f"Preset `{spec.preset}` of vsdemo ({spec.model}).",
    legend="",
)


def finish(folder: AnyPath) -> dict[str, Result]:
    """Measure a trained checkpoint on dev and test; write metrics.json and the model card.

    Returns:
        The metrics by split; a data set may have no test split.
    """
    folder = to_path(folder)
    spec = checkpoint.read_spec(folder)
    order_limits.calibrate(folder)
    measured = task(spec.config.task)
    metrics = {}
    for split in _splits(measured, spec):
        metrics[split] = evaluate(folder, split)
        del metrics[split]["checkpoint"]
    checkpoint.write_metrics(folder, metrics)
    write_text(folder / "README.md", card(folder.name, spec, metrics, folder / "events.jsonl"))
    return metrics


def _splits(measured: Task, spec: Spec) -> list[str]:
    if "photos" in measured.needs:
        return [split for split in SPLITS if _has_captions(spec.dataset, split)]
    return list(SPLITS)


def _has_captions(dataset: str, split: str) -> bool:
    try:
        return bool(datasets.load(dataset, split).captions)
    except UserError:
        return False


def table(spec: Spec, metrics: Mapping[str, Result]) -> str:
    """Return metrics by split or model as the Markdown table of a model card."""
    return task(spec.config.task).table(metrics)


def card(name: str, spec: Spec, metrics: Mapping[str, Result], log: Path) -> str:
    """Return the text of a model card.

    Args:
        name: Name of the checkpoint.
        spec: Its spec.
        metrics: Its metrics by split.
        log: File with the events of its training.
    """
    measured = task(spec.config.task)
    text = measured.card or GENERIC
    paragraphs = [
        *_origin(name, spec, measured, list(events.read(log))),
        spec.config.also_learns_from,
        _features(spec),
        _vectors(spec),
        _teacher(spec),
        _precision(spec),
        CAPTIONER if captioner.exists(log.parent) else "",
        measured.table(metrics),
        text.legend,
        f"{_licence(spec)}\n{STORED_MAP if _has_map(log.parent) else text.contents}",
    ]
    return document(name, tags=text.tags, licence=licences.of(spec), paragraphs=paragraphs)


def _has_map(folder: Path) -> bool:
    return any(folder.glob("hierarchy-*.safetensors"))


def document(
    title: str,
    *,
    tags: Sequence[str],
    licence: Licence,
    paragraphs: Sequence[str],
    library: str = "vsdemo",
) -> str:
    """Return a model card.

    Args:
        title: Title of the card.
        tags: Tags for the Hugging Face Hub.
        licence: Licence of the weights.
        paragraphs: The text; empty paragraphs are left out.
        library: The library that loads the weights.
    """
    metadata = {
        "library_name": library,
        **licence.metadata(),
        "tags": f"[{', '.join(tags)}]",
    }
    lines = "\n".join(f"{key}: {value}" for key, value in metadata.items())
    body = "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
    return f"---\n{lines}\n---\n# {title}\n\n{body}\n"


def _origin(name: str, spec: Spec, measured: Task, log: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the paragraphs on how a checkpoint was made."""
    if spec.members:
        return _ensemble_origin(name, spec, log)
    text = measured.card or GENERIC
    done = [event for event in log if event["kind"] == "done"]
    minutes = f"{done[-1]['seconds'] / 60:.1f} minutes" if done else "an unknown time"
    description = text.description(spec)
    if not spec.is_trained_here:
        description = f"A model of open_clip, trained from scratch on scenes of {spec.dataset} by"
    return [
        description,
        f"    {train_command(spec, out=name)}",
        f"Seed {spec.config.seed}; training and dev evaluations took {minutes} on "
        f"{platform.machine()}, threads: {torch.get_num_threads()}.",
    ]


def train_command(spec: Spec, *, out: str) -> str:
    """Return the command that trains a checkpoint into the folder `out`."""
    if not spec.is_trained_here:
        return f"python -m vsdemo {models.get(spec.model).recipe} --out {out}"
    own_data = "sentences" in task(spec.config.task).needs
    data = "" if own_data else f" --data {spec.dataset}"
    settings = "".join(f" --set {key}={text_of(value)}" for key, value in spec.changed.items())
    return f"python -m vsdemo train {spec.preset}{data} --out {out}{settings}"


def _ensemble_origin(name: str, spec: Spec, log: Sequence[Mapping[str, Any]]) -> list[str]:
    members = " ".join(next((event["members"] for event in log if "members" in event), ()))
    seeds = ", ".join(str(member.config.seed) for member in spec.members)
    shared = ", ".join(f"`{member.of}`" for member in spec.members if member.of)
    beside = f"\nThe weights of {shared} are read from there." if shared else ""
    return [
        f"The {spec.preset} of vsdemo: the mean of its members' embeddings, normalised again if "
        f"the\nscore needs it. Members were trained on the train split of {spec.dataset} and "
        f"chosen on its dev\nsplit; seeds {seeds}.{beside}",
        f"    python -m vsdemo ensemble {members} --out {name}{' --share' if shared else ''}",
    ]


def _features(spec: Spec) -> str:
    """Return the paragraph on photo features; empty for a model without photos."""
    if not spec.features:
        return ""
    if not spec.is_trained_here:
        return (
            f"Both towers are in open_clip's layout (weights {spec.backbone_hash}), so that plain "
            "open_clip loads\nthe folder as `local-dir:`, too."
        )
    photos = (
        f"Photo features: {spec.config.backbone} (weights {spec.backbone_hash}), crops "
        f"`{spec.config.crops}`;\nthe backbone's weights are not part of this checkpoint."
    )
    if not spec.has_own_network:
        return photos
    if not spec.has_changed_network:
        return (
            f"{photos} The best epoch is one before its end\nwas trained with the model, so "
            f"`{DIFFERENCE}` changes nothing."
        )
    return (
        f"{photos} Its end was trained with the model;\n`{DIFFERENCE}` holds only how it differs "
        "from those weights."
    )


def _precision(spec: Spec) -> str:
    """Return the paragraph on how weights are stored."""
    precision = "with 4 bits a number" if spec.has_four_bits else "in half precision"
    return f"Matrices are stored {precision}, and the metrics are measured with these."


def _licence(spec: Spec) -> str:
    """Return the sentences on how the weights may be used."""
    own, backbone = licences.of(spec), licences.of_backbone(spec)
    text = f"Licence of the weights: {own.label}. They learned from {own.terms}."
    if backbone is not None:
        text += f"\nLicence of the backbone: {backbone.label} ({backbone.terms})."
    return text


def _vectors(spec: Spec) -> str:
    """Return the paragraph on pretrained word vectors; empty if they were learned."""
    if spec.config.vectors == "learned":
        return ""
    return (
        "Word vectors: our own (PPMI and SVD), from captions of Flickr30k without dev and test "
        "photos of\nFlickr8k, and from the train split; "
        f"they are then {spec.config.vectors}."
    )


def _teacher(spec: Spec) -> str:
    """Return the paragraph on the teacher; empty without one."""
    if spec.teacher is None:
        return ""
    return (
        f"Teacher: {spec.teacher.of} ({spec.teacher.of_hash}), whose scores of the training "
        "captions and photos it\nalso learned; the teacher is not part of this checkpoint."
    )
