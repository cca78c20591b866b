"""A checkpoint is a folder: config.json, vocab.json, model*.safetensors, metrics.json,
events.jsonl and a model card README.md. No pickle."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from vsdemo import models
from vsdemo.core import config as configs
from vsdemo.core import tensors
from vsdemo.core.device import device
from vsdemo.core.errors import UserError
from vsdemo.core.paths import checkpoints_root, write_text
from vsdemo.data.text.vocab import Vocab
from vsdemo.models import ensemble, migrations
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.vision.features import FeatureCache

FORMAT = 1
SNAPSHOT = "snapshot-"
MAX_FILE = 9_500_000  # bytes; Hugging Face Spaces refuse 10 MB outside LFS


@dataclass(frozen=True)
class Spec:
    """What config.json says of a model beside its weights.

    members: of an ensemble; its model is `ensemble`, its configuration that of the first of them.
    of: of a member that another checkpoint holds, the path there from the ensemble; of_hash: that
    one's `content_hash`.
    """

    model: str
    preset: str
    dataset: str
    config: Any
    backbone_hash: str
    features: int  # length of a photo's vector, or of each region's
    format: int = FORMAT
    members: tuple[Spec, ...] = ()
    of: str = ""
    of_hash: str = ""

    @property
    def changed(self) -> dict[str, Any]:
        """The settings that differ from those of the preset; none of an ensemble."""
        if self.members:
            return {}
        default = vars(models.preset(self.preset)[1])
        return {k: v for k, v in vars(self.config).items() if v != default[k]}

    @property
    def label(self) -> str:
        """The preset and the settings that differ, but for the seed, such as "gru margin=1"."""
        changed = [f"{k}={v}".removesuffix(".0") for k, v in self.changed.items() if k != "seed"]
        return " ".join([self.preset, *changed])


def save(
    folder: Path, spec: Spec, vocab: Vocab | Sequence[Vocab | None], state: dict[str, Tensor]
) -> None:
    """Writes config, vocabulary (of an ensemble its members', None where another checkpoint holds
    it) and weights, matrices in half precision, files below MAX_FILE."""
    rare = ("members", "of", "of_hash")
    said = dataclasses.asdict(
        spec, dict_factory=lambda pairs: {k: v for k, v in pairs if v or k not in rare}
    )
    words = vocab.to_json() if isinstance(vocab, Vocab) else [v and v.to_json() for v in vocab]
    write_text(folder / "config.json", json.dumps(said, indent=2) + "\n")
    write_text(folder / "vocab.json", json.dumps(words, ensure_ascii=False) + "\n")
    shards: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, tensor in tensors.split_large(tensors.to_half(state), MAX_FILE):
        size += tensor.nbytes
        if size > MAX_FILE and shards[-1]:
            shards.append({})
            size = tensor.nbytes
        shards[-1][name] = tensor
    names = [f"model-{i}.safetensors" for i in range(1, len(shards) + 1)]
    names = ["model.safetensors"] if len(shards) == 1 else names
    for name, shard in zip(names, shards, strict=True):
        tensors.write(folder / name, shard)
    for old in set(folder.glob("model*.safetensors")) - {folder / n for n in names}:
        old.unlink()


def save_whole(folder: Path, spec: Spec, vocab: Vocab, state: dict[str, Tensor]) -> None:
    """As `save`, but the folder is there whole or not at all; an older one is replaced."""
    temporary = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    save(temporary, spec, vocab, state)
    shutil.rmtree(folder, ignore_errors=True)
    temporary.rename(folder)


def snapshot(run: Path, epoch: int) -> Path:
    """The folder of the checkpoint that a run keeps of an epoch."""
    return run / f"{SNAPSHOT}{epoch:02}"


def snapshots(run: Path) -> dict[int, Path]:
    """Epoch -> folder of the snapshots in a run's folder, in order."""
    found = run.glob(f"{SNAPSHOT}*/config.json")
    names = {f.parent.name.removeprefix(SNAPSHOT): f for f in found}
    return {int(n): names[n].parent for n in sorted(names, key=int) if n.isdecimal()}


def read_spec(folder: Path) -> Spec:
    """Reads config.json. Raises UserError when it is missing, damaged or of a newer format."""
    try:
        values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if (found := values["format"]) == FORMAT:
            return spec_of(values)
    except FileNotFoundError:
        raise UserError(
            f"There is no checkpoint at {folder}; `python -m vsdemo models` lists those here."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"The checkpoint {folder} is damaged: config.json ({error}).") from None
    raise UserError(f"{folder} has format {found}; this vsdemo reads {FORMAT}.")


def spec_of(values: dict[str, Any]) -> Spec:
    """What `dataclasses.asdict` made of a Spec; settings that are newer have their defaults."""
    members = tuple(spec_of(member) for member in values.get("members", ()))
    if members:
        return Spec(**{**values, "config": members[0].config, "members": members})
    kind = models.module(values["model"]).Config
    settings = migrations.migrate(values["model"], values["config"])
    config = configs.from_dict(kind, settings)
    of = str(values.get("of", ""))
    return Spec(**{**values, "config": config, "members": (), "of": of})


def load(folder: Path) -> tuple[DualEncoder, Spec, Vocab]:
    """Rebuilds a model through the registry, in evaluation mode on the chosen device. The
    vocabulary of an ensemble is that of its first member.

    Raises UserError when the checkpoint is missing or damaged.
    """
    spec = read_spec(folder)
    elsewhere = _elsewhere(folder, spec)
    try:
        stored, state = _read(folder)
        for number, other in elsewhere.items():
            stored[number], weights = _read(other)
            state |= ensemble.named(weights, number)
        vocabs = [Vocab.from_json(v) for v in (stored if spec.members else [stored])]
        built = [
            models.build(part.model, part.config, words, part.features)
            for part, words in zip(spec.members or [spec], vocabs, strict=True)
        ]
        model = ensemble.build(built) if spec.members else built[0]
        model.load_state_dict({k: t.float() for k, t in state.items()})
    except (OSError, ValueError, LookupError, TypeError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"The checkpoint {folder} is damaged: {reason}") from None
    return model.to(device()).eval(), spec, vocabs[0]


def _read(folder: Path) -> tuple[Any, dict[str, Tensor]]:
    """What vocab.json holds, and the weights as stored."""
    words = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    files = sorted(folder.glob("model*.safetensors"))
    return words, tensors.join_split({k: t for f in files for k, t in load_file(f).items()})


def _elsewhere(folder: Path, spec: Spec) -> dict[int, Path]:
    """Number of a member -> the checkpoint that holds it. Raises UserError when that is not there
    or no longer the same."""
    found = {number: folder / part.of for number, part in enumerate(spec.members) if part.of}
    for number, other in found.items():
        part = spec.members[number]
        here = all((other / name).exists() for name in ("config.json", "vocab.json"))
        if not here or content_hash(other) != part.of_hash:
            raise UserError(
                f"{folder} has a member in {part.of}, which is missing or has changed; bring that "
                "checkpoint back or make the ensemble again."
            )
    return found


def content_hash(folder: Path) -> str:
    """The first 16 hex digits of the SHA-256 of weights, vocabulary and configuration, its own and
    those of members that other checkpoints hold."""
    digest = hashlib.sha256()
    others = [folder / part.of for part in read_spec(folder).members if part.of]
    for place in (folder, *others):
        for file in sorted([*place.glob("model*.safetensors"), place / "vocab.json"]):
            digest.update(file.read_bytes())
        digest.update((place / "config.json").read_bytes())
    return digest.hexdigest()[:16]


def shipped() -> list[Path]:
    """The checkpoint folders that come with the project, without the snapshots of runs."""
    found = (p.parent for p in checkpoints_root().glob("**/config.json"))
    return sorted(p for p in found if not p.name.startswith((SNAPSHOT, ".")))


def check_photos(spec: Spec) -> None:
    """Raises UserError for a model without an image tower."""
    if not spec.features:
        about = ("pairs of sentences", "`python -m vsdemo sentences` and `evaluate --task nli`")
        if "concepts" in spec.config.needs:
            about = ("concepts", "`python -m vsdemo walk` and `evaluate`")
        raise UserError(
            f"{spec.preset} was trained without photos and knows none; it is for {about[0]}: "
            f"{about[1]}."
        )


def feature_cache(spec: Spec) -> FeatureCache:
    """The features this checkpoint was trained on. Raises UserError when the backbone's weights
    here are not the ones it knows."""
    check_photos(spec)
    cache = FeatureCache(spec.config.backbone, spec.config.crops)
    if cache.hash != spec.backbone_hash:
        raise UserError(
            f"This checkpoint was trained on features of {spec.config.backbone} with weights "
            f"{spec.backbone_hash}, but the weights here are {cache.hash}; put the former "
            "into the models/ folder below VSDEMO_DATA."
        )
    return cache
