"""Ensembles: the mean of several models' embeddings, saved as one checkpoint.

An ensemble is not trained, so it has no presets; its members are the snapshots of a run, or any
checkpoints with one score.

Merckx & Frank, "Learning semantic sentence representations from visually grounded language without
lexical knowledge", Natural Language Engineering, 2019, section 3.3; after Huang, Li, Pleiss, Liu,
Hopcroft & Weinberger, "Snapshot ensembles: train 1, get M for free", ICLR 2017.

    f(s) = sum_m f_m(s) / |sum_m f_m(s)|        g(v) likewise

The paper ensembles "the caption embeddings of multiple networks" and does not say how; its released
code adds the embeddings of captions, and those of photos, over the networks. Here they are scaled
to length 1 again where the members' embeddings have that length (cosine, orders), and are a mean
otherwise (inner product, distance), so that scores keep their size. A score of two sums also
contains the scores of one member's captions with another's photos: snapshots of one run share a
space, independent runs do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.core.events import EventLog, read
from vsdemo.core.paths import AnyPath, to_path
from vsdemo.models import checkpoint
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder

BEST = 2  # snapshots of a run (Merckx & Frank 2019, section 3.3)


def members_of(run: AnyPath, best: int = BEST) -> list[Path]:
    """Return the checkpoints that a run contributes to an ensemble, in the order of their epochs.

    These are its `best` snapshots by rsum on dev as measured in training; the earlier one in a tie.
    A checkpoint without snapshots contributes itself.
    """
    run = to_path(run)
    snapshots = checkpoint.snapshots(run)
    if not snapshots:
        return [run]
    events = read(run / "events.jsonl")
    rsum = {e["epoch"]: e["rsum"] for e in events if e["kind"] == "eval" and "rsum" in e}
    ranked = sorted(snapshots, key=lambda epoch: (-rsum.get(epoch, -1.0), epoch))
    return [snapshots[epoch] for epoch in sorted(ranked[:best])]


def make(
    folders: Sequence[AnyPath], out: AnyPath, *, best: int = BEST, share: bool = False
) -> list[Path]:
    """Save the ensemble of `members_of` each folder.

    Args:
        folders: Runs or checkpoints.
        out: Folder to write.
        best: Snapshots of each run.
        share: Refer to the checkpoints next to `out` for their weights instead of copying them.

    Returns:
        The members.

    Raises:
        UserError: `out` holds a checkpoint, a member appears twice, is an ensemble or embeds
            sentences as sets, or data set, backbone, crops, score or dimension differ.
    """
    out = to_path(out)
    if (out / "config.json").exists():
        raise UserError(f"{out} already holds a checkpoint; choose another --out.")
    members = [member for folder in folders for member in members_of(folder, best)]
    counts = Counter(member.resolve() for member in members)
    if repeated := [member for member, count in counts.items() if count > 1]:
        raise UserError(f"{repeated[0]} appears twice; name each member of an ensemble once.")
    loaded = [checkpoint.load(member) for member in members]
    _check_compatible(members, [(model, spec) for model, spec, _ in loaded])

    specs = [spec for _, spec, _ in loaded]
    if share:
        specs = [_shared(m, spec, out) for m, spec in zip(members, specs, strict=True)]
    vocabs = []
    state: dict[str, Tensor] = {}
    for number, (model, _, vocab) in enumerate(loaded):
        elsewhere = bool(specs[number].of)
        vocabs.append(None if elsewhere else vocab)
        if not elsewhere:
            state |= checkpoint.member_state(model.state_dict(), number)

    log = EventLog(out / "events.jsonl")
    names = [f"{m.resolve().parent.name}/{m.resolve().name}" for m in members]
    log.write("start", 0, members=names)
    checkpoint.save(out, _ensemble_spec(specs), vocabs, state)
    log.write("done", 0, seconds=0.0)
    return members


def _shared(member: Path, spec: Spec, out: Path) -> Spec:
    """Return the member's spec, with a reference if a folder next to `out` has the same content.

    That folder is the member itself or, for a snapshot, its run, which keeps the best epoch.
    """
    member = member.resolve()
    content = checkpoint.content_hash(member)
    for folder in (member, member.parent):
        beside = folder.parent == out.resolve().parent and (folder / "config.json").exists()
        if beside and checkpoint.content_hash(folder) == content:
            return replace(spec, of=f"../{folder.name}", of_hash=content)
    return spec


def _check_compatible(members: Sequence[Path], loaded: Sequence[tuple[DualEncoder, Spec]]) -> None:
    """Raise UserError for checkpoints that cannot be members of one ensemble."""
    first: dict[str, Any] = {}
    for member, (model, spec) in zip(members, loaded, strict=True):
        properties = _properties(member, model, spec)
        first = first or properties
        for name, value in first.items():
            if properties[name] != value:
                raise UserError(
                    f"{members[0]} and {member} cannot be members of one ensemble: "
                    f"{name} {value} and {properties[name]}."
                )


def _properties(folder: Path, model: DualEncoder, spec: Spec) -> dict[str, Any]:
    """Return what members must have in common.

    Raises:
        UserError: The checkpoint cannot be a member of any ensemble.
    """
    if spec.members:
        raise UserError(f"{folder} is an ensemble itself; name its members.")
    if model.image is None:
        raise UserError(f"{folder} was trained without photos; an ensemble needs models of photos.")
    if model.score.can_align:
        raise UserError(
            f"{folder} embeds each part of a sentence; an ensemble needs one embedding per "
            "sentence."
        )
    order = model.score.order
    direction = " reversed" if order and order.reversed else ""
    return {
        "data set": spec.dataset,
        "backbone": f"{spec.config.backbone} ({spec.backbone_hash})",
        "crops": spec.config.crops,
        "score": f"{type(model.score).__name__} ({model.score.unit}){direction}",
        "dim": model.text.dim,
    }


def _ensemble_spec(members: Sequence[Spec]) -> Spec:
    first = members[0]
    labels = Counter(member.label for member in members)
    return Spec(
        model=checkpoint.ENSEMBLE,
        preset="ensemble of " + ", ".join(f"{n} {label}" for label, n in labels.items()),
        dataset=first.dataset,
        config=first.config,
        backbone_hash=first.backbone_hash,
        features=first.features,
        members=tuple(members),
    )
