"""Ensembles: the snapshots of a run, or any checkpoints of one score, as one checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.core.events import EventLog, read
from vsdemo.models import checkpoint, ensemble
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder

BEST = 2  # snapshots of a run (Merckx & Frank 2019, section 3.3)


def members_of(run: Path, best: int = BEST) -> list[Path]:
    """The checkpoints that a run gives to an ensemble: of its snapshots the `best` by rsum on dev
    as measured in training, the earlier one where two are equal, in the order of their epochs.
    A checkpoint without snapshots gives itself.
    """
    found = checkpoint.snapshots(run)
    if not found:
        return [run]
    evals = (e for e in read(run / "events.jsonl") if e["kind"] == "eval")
    rsum = {e["epoch"]: e["rsum"] for e in evals if "rsum" in e}
    chosen = sorted(found, key=lambda epoch: (-rsum.get(epoch, -1.0), epoch))[:best]
    return [found[epoch] for epoch in sorted(chosen)]


def make(folders: Sequence[Path], out: Path, best: int = BEST, share: bool = False) -> list[Path]:
    """Writes the ensemble of `members_of` each folder to `out`; returns its members. With `share`
    what a checkpoint beside `out` holds is named and not written again.

    Raises UserError when `out` holds a checkpoint, when a member comes twice, is an ensemble or has
    a set of points a sentence, and when data set, backbone, crops, score or size differ.
    """
    if (out / "config.json").exists():
        raise UserError(f"{out} holds a checkpoint already; choose another --out.")
    members = [member for folder in folders for member in members_of(folder, best)]
    if twice := [m for m, n in Counter(m.resolve() for m in members).items() if n > 1]:
        raise UserError(f"{twice[0]} comes twice; name each member of an ensemble once.")
    loaded = [checkpoint.load(member) for member in members]
    facts = [_facts(member, *found[:2]) for member, found in zip(members, loaded, strict=True)]
    for member, other in zip(members[1:], facts[1:], strict=True):
        for what, value in facts[0].items():
            if other[what] != value:
                raise UserError(
                    f"{members[0]} and {member} cannot be members of one ensemble: "
                    f"{what} {value} and {other[what]}."
                )
    names = [f"{m.resolve().parent.name}/{m.resolve().name}" for m in members]
    specs = [spec for _, spec, _ in loaded]
    if share:
        specs = [_shared(m, spec, out) for m, spec in zip(members, specs, strict=True)]
    log = EventLog(out / "events.jsonl")
    log.write("start", 0, members=names)
    vocabs = [None if spec.of else found[2] for spec, found in zip(specs, loaded, strict=True)]
    state: dict[str, Tensor] = {}
    for number, (model, _, _) in enumerate(loaded):
        if not specs[number].of:
            state |= ensemble.named(model.state_dict(), number)
    checkpoint.save(out, _spec(specs), vocabs, state)
    log.write("done", 0, seconds=0.0)
    return members


def _shared(member: Path, spec: Spec, out: Path) -> Spec:
    """The member's spec; where a folder beside `out` has the very same, itself or of a snapshot
    what its run chose, with that named."""
    member, found = member.resolve(), checkpoint.content_hash(member)
    for place in (member, member.parent):
        beside = place.parent == out.resolve().parent and (place / "config.json").exists()
        if beside and checkpoint.content_hash(place) == found:
            return replace(spec, of=f"../{place.name}", of_hash=found)
    return spec


def _facts(folder: Path, model: DualEncoder, spec: Spec) -> dict[str, Any]:
    """What members have in common. Raises UserError for what can be no member."""
    if spec.members:
        raise UserError(f"{folder} is an ensemble itself; name its members.")
    if model.image is None:
        raise UserError(f"{folder} was trained without photos; an ensemble is of those with.")
    if hasattr(model.score, "align"):
        raise UserError(
            f"{folder} has a point for each part of a sentence; an ensemble needs one a sentence."
        )
    return {
        "data set": spec.dataset,
        "backbone": f"{spec.config.backbone} ({spec.backbone_hash})",
        "crops": spec.config.crops,
        "score": f"{type(model.score).__name__} ({model.score.unit})"
        + (" reversed" if getattr(model.score, "reversed", False) else ""),
        "dim": model.text.dim,
    }


def _spec(members: Sequence[Spec]) -> Spec:
    first, labels = members[0], Counter(member.label for member in members)
    return Spec(
        model="ensemble",
        preset="ensemble of " + ", ".join(f"{n} {label}" for label, n in labels.items()),
        dataset=first.dataset,
        config=first.config,
        backbone_hash=first.backbone_hash,
        features=first.features,
        members=tuple(members),
    )
