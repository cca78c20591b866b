"""Checkpoints: folders with a model's configuration, vocabulary, weights, metrics, events and card.

The files are config.json, vocab.json, model*.safetensors, metrics.json, events.jsonl and README.md.
`vsdemo.search.calibration` adds matching.json, temperature.json, words.json for models that read
characters, and limits.json for models with an order. A model that learned concepts has
concepts.json. SHA256SUMS has the checksums of all files that answers depend on; `load` checks them.
Nothing is pickled.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor

from vsdemo import models
from vsdemo.core import checksums, four_bits, json_files, tensors
from vsdemo.core import config as configs
from vsdemo.core.checksums import DamagedFile
from vsdemo.core.config import Config
from vsdemo.core.device import device
from vsdemo.core.errors import UserError
from vsdemo.core.paths import AnyPath, checkpoints_root, to_path
from vsdemo.data.downloads.hub import CONFIG, WEIGHTS
from vsdemo.data.text.near_words import WordList
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.several import MeanEncoder
from vsdemo.models import captioner, migrations
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.limits import NO_LIMITS, Limits
from vsdemo.vision.backbones import TUNED
from vsdemo.vision.backbones.families import DIFFERENCE
from vsdemo.vision.backbones.tuned import is_changed
from vsdemo.vision.features import FeatureCache

FORMAT = 1  # of the folder; config.json has a version of its own
SNAPSHOT = "snapshot-"
TRAINING_WORDS, METRICS, LIMITS = "words.json", "metrics.json", "limits.json"
CONCEPTS, TEMPERATURE, PRESENCE = "concepts.json", "temperature.json", "presence.json"
# Optional files that answers depend on.
EXTRAS = (TRAINING_WORDS, LIMITS, CONCEPTS, TEMPERATURE, PRESENCE, DIFFERENCE)
LAYOUT = (CONFIG, WEIGHTS)  # open_clip's files, in a checkpoint that open_clip can load
FILES = (  # patterns of the names of all files
    "config.json",
    "vocab.json",
    "model*.safetensors",
    *LAYOUT,
    *EXTRAS,
    "matching.json",
    captioner.FILE,
    "hierarchy-*.safetensors",
    METRICS,
    "events.jsonl",
    "README.md",
    checksums.LIST,
)
MAX_FILE = 9_500_000  # bytes; Hugging Face Spaces refuse 10 MB outside LFS
ENSEMBLE = "ensemble"
DAMAGE = (  # what damaged files raise
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    SafetensorError,
)


@dataclass(frozen=True)
class Spec:
    """What config.json says about a model.

    Attributes:
        model: Name of the model; `ensemble` for an ensemble.
        preset: Name of the preset.
        dataset: Name of the data set of the training; empty for models that are not trained here.
        config: Configuration; for an ensemble, that of its first member.
        backbone_hash: Hash of the backbone's weights; empty without photos.
        features: Length of the vector of a photo, or of each region; 0 without photos.
        format: Format of the folder.
        members: Members of an ensemble.
        of: For a member that another checkpoint holds, the path to it from the ensemble. For a
            teacher, its name.
        of_hash: `content_hash` of that checkpoint.
        teacher: The teacher of the training; None without one.
        folder: The folder of the checkpoint; None for a spec that was not read from one.
    """

    model: str
    preset: str
    dataset: str
    config: Any
    backbone_hash: str
    features: int
    format: int = FORMAT
    members: tuple[Spec, ...] = ()
    of: str = ""
    of_hash: str = ""
    teacher: Spec | None = None
    folder: Path | None = field(default=None, compare=False, repr=False)

    @property
    def has_own_network(self) -> bool:
        """Whether the end of the image network was trained with the model."""
        return self.folder is not None and (self.folder / DIFFERENCE).is_file()

    @property
    def has_changed_network(self) -> bool:
        """Whether the best epoch came after the tuning of the end had begun."""
        if self.folder is None or not self.has_own_network:
            return False
        return is_changed(self.folder / DIFFERENCE)

    @property
    def has_tuned_network(self) -> bool:
        """Whether the end of the image network was trained with this model or with another one."""
        return self.network.startswith(TUNED)

    @property
    def has_four_bits(self) -> bool:
        """Whether the matrices of a checkpoint have 4 bits a number."""
        return self.has_tuned_network or self.config.four_bits

    @property
    def network(self) -> str:
        """The name of the image network: its backbone, or that with an end of its own."""
        if not self.folder or not self.has_own_network:
            return str(self.config.backbone)
        folder, root = self.folder.resolve(), checkpoints_root().resolve()
        is_shipped = folder.is_relative_to(root)  # other models name its network in the same way
        return f"{TUNED}{folder.relative_to(root).as_posix() if is_shipped else folder}"

    @property
    def changed(self) -> dict[str, Any]:
        """The settings that differ from those of the preset; none for an ensemble."""
        if self.members:
            return {}
        default = dict(models.preset(self.preset)[1])
        return {key: value for key, value in self.config if value != default[key]}

    @property
    def is_trained_here(self) -> bool:
        """Whether it was trained by `train`; see `Model`."""
        return bool(self.members) or models.get(self.model).is_trained_here

    @property
    def gallery(self) -> str:
        """The data set to use where none is named: that of the training, or Storybook."""
        return self.dataset or "storybook"

    @property
    def label(self) -> str:
        """The preset and the settings that differ, except the seed, such as "gru margin=1"."""
        changed = [f"{k}={v}".removesuffix(".0") for k, v in self.changed.items() if k != "seed"]
        return " ".join([self.preset, *changed])

    def to_json(self) -> dict[str, Any]:
        """Return the content of config.json."""
        return {**_values(self), "version": migrations.VERSION}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Spec:
        """Return the spec that config.json holds, in any version.

        Settings that are newer than the file have their defaults.

        Raises:
            UserError: A setting is unknown or not valid, or the model is unknown.
            ValueError: The file is of a newer version, or damaged; damage can also raise
                LookupError, TypeError or AttributeError.
        """
        values = migrations.migrate(dict(values))
        values.pop("version")
        return cls._from_values(values)

    @classmethod
    def _from_values(cls, values: dict[str, Any]) -> Spec:
        members = tuple(cls._from_values(member) for member in values.get("members", ()))
        config: Config
        if members:
            config = members[0].config
        else:
            config = configs.from_json(models.get(values["model"]).config, values["config"])
        teacher = values.get("teacher")
        rest = {
            "config": config,
            "members": members,
            "of": str(values.get("of", "")),
            "teacher": cls._from_values(teacher) if teacher else None,
        }
        return cls(**{**values, **rest})


def _values(spec: Spec) -> dict[str, Any]:
    values = {
        "model": spec.model,
        "preset": spec.preset,
        "dataset": spec.dataset,
        "config": spec.config.model_dump(),
        "backbone_hash": spec.backbone_hash,
        "features": spec.features,
        "format": spec.format,
    }
    if spec.members:
        values["members"] = [_values(member) for member in spec.members]
    if spec.of:
        values |= {"of": spec.of, "of_hash": spec.of_hash}
    if spec.teacher:
        values["teacher"] = _values(spec.teacher)
    return values


def save(
    folder: Path,
    spec: Spec,
    vocab: Vocab | Sequence[Vocab | None],
    state: Mapping[str, Tensor],
    difference: bytes | None = None,
) -> None:
    """Write configuration, vocabulary and weights.

    Matrices are in half precision; in 4 bits if the configuration says so, or if the image network
    is tuned, as its vectors are twice as long.

    Args:
        folder: Folder of the checkpoint.
        spec: Content of config.json.
        vocab: Vocabulary; for an ensemble, one for each member, None where another checkpoint holds
            it.
        state: Weights by name; they are split over files below MAX_FILE.
        difference: Of a model with an image network of its own, how it differs from the backbone;
            None for others.
    """
    if isinstance(vocab, Vocab):
        words = vocab.to_json()
    else:
        words = [None if member is None else member.to_json() for member in vocab]
    has_four_bits = difference is not None or spec.has_four_bits
    shards = _shards(four_bits.encode(state) if has_four_bits else tensors.to_half(state))
    if len(shards) == 1:
        names = ["model.safetensors"]
    else:
        names = [f"model-{i}.safetensors" for i in range(1, len(shards) + 1)]
    contents = {
        "config.json": json.dumps(spec.to_json(), indent=2) + "\n",
        "vocab.json": json.dumps(words, ensure_ascii=False) + "\n",
    }
    weights = {name: tensors.to_bytes(shard) for name, shard in zip(names, shards, strict=True)}
    if difference is not None:
        weights[DIFFERENCE] = difference
    checksums.write_files(
        folder,
        {name: text.encode() for name, text in contents.items()} | weights,
        remove=[
            LIMITS,
            CONCEPTS,
            TEMPERATURE,
            PRESENCE,
            captioner.FILE,
            *(old for old in (DIFFERENCE, *_weights(folder)) if old not in weights),
        ],
    )


def _weights(folder: Path) -> list[str]:
    return [file.name for file in folder.glob("model*.safetensors")]


def _shards(state: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
    """Split stored weights into parts below MAX_FILE."""
    shards: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, tensor in tensors.split_large(state, MAX_FILE):
        size += tensor.nbytes
        if size > MAX_FILE and shards[-1]:
            shards.append({})
            size = tensor.nbytes
        shards[-1][name] = tensor
    return shards


def save_whole(
    folder: Path,
    spec: Spec,
    vocab: Vocab,
    state: Mapping[str, Tensor],
    difference: bytes | None = None,
) -> None:
    """Save a checkpoint completely or not at all, as `save`; an older one is replaced."""
    temporary = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    save(temporary, spec, vocab, state, difference)
    shutil.rmtree(folder, ignore_errors=True)
    temporary.rename(folder)


def snapshot(run: Path, epoch: int) -> Path:
    """Return the folder of a run's snapshot after an epoch."""
    return run / f"{SNAPSHOT}{epoch:02}"


def snapshots(run: AnyPath) -> dict[int, Path]:
    """Return epoch -> folder of a run's snapshots, in order."""
    folders = {}
    for file in to_path(run).glob(f"{SNAPSHOT}*/config.json"):
        number = file.parent.name.removeprefix(SNAPSHOT)
        if number.isdecimal():
            folders[int(number)] = file.parent
    return dict(sorted(folders.items()))


def read_spec(folder: AnyPath) -> Spec:
    """Return the content of config.json.

    Raises:
        UserError: The file is missing, damaged or of a newer format.
    """
    folder = to_path(folder)
    try:
        values = json_files.load(folder / "config.json")
        if (number := values["format"]) == FORMAT:
            return replace(Spec.from_json(values), folder=folder)
    except FileNotFoundError:
        raise UserError(
            f"There is no checkpoint at {folder}; `python -m vsdemo models` lists the available "
            "ones."
        ) from None
    except DAMAGE as error:
        reason = _shorten(error)
        raise UserError(f"The checkpoint {folder} is damaged: config.json ({reason}).") from None
    raise UserError(f"{folder} has format {number}; this vsdemo reads {FORMAT}.")


def check_files(folder: AnyPath) -> None:
    """Look for missing and cut off files, without reading the weights.

    Raises:
        UserError: The checkpoint is missing or damaged.
    """
    folder = to_path(folder)
    spec = read_spec(folder)
    try:
        for place in (folder, *_members_elsewhere(folder, spec).values()):
            files = sorted(place.glob("model*.safetensors"))
            if not files or not (place / "vocab.json").is_file():
                raise FileNotFoundError("a file is missing")
            for file in files:
                with safe_open(file, "pt"):
                    pass
    except (OSError, SafetensorError) as error:
        raise UserError(f"The checkpoint {folder} is damaged: {_shorten(error)}.") from None


def load(folder: AnyPath) -> tuple[DualEncoder, Spec, Vocab]:
    """Rebuild a model through the registry, in evaluation mode on the chosen device.

    Returns:
        The model, the content of config.json and the vocabulary; for an ensemble, that of its first
        member.

    Raises:
        UserError: The checkpoint is missing or damaged.
    """
    folder = to_path(folder)
    spec = read_spec(folder)
    elsewhere = _members_elsewhere(folder, spec)
    try:
        check_sums(folder)
        words, state = _read(folder)
        for number, other in elsewhere.items():
            words[number], weights = _read(other)
            state |= member_state(weights, number)
        if spec.members:
            vocabs = [Vocab.from_json(member) for member in words]
            members = [_build(m, v) for m, v in zip(spec.members, vocabs, strict=True)]
            model = build_ensemble(members)
        else:
            vocabs = [Vocab.from_json(words)]
            model = _build(spec, vocabs[0])
        model.load_state_dict({name: tensor.float() for name, tensor in state.items()})
        _check_finite(state)
        training_words = _training_words(folder)
        model.limits = _limits(folder)
        model.concepts = _concepts(folder)
        model.temperature = _temperature(folder)
        model.presence = _presence(folder)
    except DamagedFile:
        raise
    except DAMAGE as error:
        raise UserError(f"The checkpoint {folder} is damaged: {_shorten(error)}") from None
    text: Any = model.text
    text.training_words = training_words
    if captioner.exists(folder):
        model.attach(captioner.load(folder, content_hash(folder)).to(device()))
    return model.to(device()).eval(), spec, vocabs[0]


def write_metrics(folder: Path, metrics: Mapping[str, Any]) -> None:
    """Store the metrics of a checkpoint by split."""
    text = json.dumps(metrics, indent=1) + "\n"
    checksums.write_files(folder, {METRICS: text.encode()})


def read_metrics(folder: AnyPath) -> dict[str, Any]:
    """Return the metrics of a checkpoint by split.

    Raises:
        UserError: They are missing or damaged.
    """
    path = to_path(folder) / METRICS
    checksums.check(path)
    try:
        metrics = json_files.load(path)
    except FileNotFoundError:
        raise UserError(f"{path} is missing; measure the checkpoint again.") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is damaged ({error}); measure the checkpoint again.") from None
    if not isinstance(metrics, dict):
        raise UserError(
            f"{path} is damaged (it is not a JSON object); measure the checkpoint again."
        )
    return metrics


def save_training_words(folder: Path, words: Sequence[str]) -> None:
    """Store the words of the training captions of a model that reads characters."""
    text = json.dumps(list(words), ensure_ascii=False) + "\n"
    checksums.write_files(folder, {TRAINING_WORDS: text.encode()})


def save_limits(folder: Path, limits: Limits) -> None:
    """Store the limits of a model's order; `save`, which writes other weights, removes them."""
    text = json.dumps(limits.finite()) + "\n"
    checksums.write_files(folder, {LIMITS: text.encode()})


def has_limits(folder: Path) -> bool:
    """Return whether the limits of a model's order are known; False if the file is damaged."""
    with suppress(*DAMAGE):
        return _limits(folder).usable != NO_LIMITS
    return False


def _limits(folder: Path) -> Limits:
    """Return what `save_limits` stored, or no limits."""
    file = folder / LIMITS
    return Limits(**json_files.load(file)) if file.exists() else NO_LIMITS


def save_concepts(folder: Path, concepts: Sequence[str]) -> None:
    """Store the concepts that a model learned, such as "a dog"; `save` removes them."""
    text = json.dumps(list(concepts), ensure_ascii=False) + "\n"
    checksums.write_files(folder, {CONCEPTS: text.encode()})


def _concepts(folder: Path) -> tuple[str, ...]:
    """Return what `save_concepts` stored; nothing for most models."""
    file = folder / CONCEPTS
    return tuple(map(str, json_files.load(file))) if file.exists() else ()


def save_temperature(folder: Path, temperature: float) -> None:
    """Store the temperature of a model; `save`, which writes other weights, removes it."""
    text = json.dumps({"temperature": temperature}) + "\n"
    checksums.write_files(folder, {TEMPERATURE: text.encode()})


def _temperature(folder: Path) -> float | None:
    """Return what `save_temperature` stored; None for models that were not calibrated."""
    file = folder / TEMPERATURE
    if not file.exists():
        return None
    temperature = float(json_files.load(file)["temperature"])
    if not 0 < temperature < math.inf:
        raise ValueError("a temperature is above 0")
    return temperature


def save_presence(folder: Path, limit: float) -> None:
    """Store `DualEncoder.presence`; `save`, which writes other weights, removes it."""
    text = json.dumps({"limit": limit}) + "\n"
    checksums.write_files(folder, {PRESENCE: text.encode()})


def _presence(folder: Path) -> float:
    """Return what `save_presence` stored; 0 for models that were not calibrated."""
    file = folder / PRESENCE
    limit = float(json_files.load(file)["limit"]) if file.exists() else 0.0
    if not math.isfinite(limit):
        raise ValueError("the limit of presence is not finite")
    return limit


def _training_words(folder: Path) -> WordList | None:
    """Return what `save_training_words` stored; None for most models."""
    file = folder / TRAINING_WORDS
    if not file.exists():
        return None
    return WordList(map(str, json_files.load(file)))


def check_sums(folder: Path) -> None:
    """Compare all files that answers depend on with their checksums, if the folder has any.

    Raises:
        DamagedFile: A file has changed.
    """
    for file in (*_content_files(folder), *map(folder.joinpath, EXTRAS)):
        checksums.check(file)


def _check_finite(state: Mapping[str, Tensor]) -> None:
    for name, tensor in state.items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise ValueError(f"{name} has values that are not finite; train the model again.")


def _shorten(error: Exception) -> str:
    return textwrap.shorten(str(error), width=200, placeholder=" ...")


def _build(spec: Spec, vocab: Vocab) -> DualEncoder:
    if not spec.is_trained_here:
        feature_cache(spec)  # checks its weights, which are those of the model
    return models.build(spec.model, spec.config, vocab, spec.features)


def build_ensemble(members: Sequence[DualEncoder]) -> DualEncoder:
    """Return the ensemble of models with one score and dimension; see `ensemble`."""
    score = members[0].score
    text = MeanEncoder([member.text for member in members], unit=score.normalized)
    images = [member.image for member in members if member.image is not None]
    image = MeanEncoder(images, unit=score.normalized)
    return DualEncoder(text, image, score)


def member_state(state: Mapping[str, Tensor], number: int) -> dict[str, Tensor]:
    """Return a member's weights as the ensemble names them: text.x -> text.members.0.x.

    Weights of its objective, which are only for training, are left out.
    """
    return {
        name.replace(".", f".members.{number}.", 1): tensor
        for name, tensor in state.items()
        if not name.startswith("objective.")
    }


def _read(folder: Path) -> tuple[Any, dict[str, Tensor]]:
    """Return the content of vocab.json and the stored weights."""
    words = json_files.load(folder / "vocab.json")
    stored: dict[str, Tensor] = {}
    for file in sorted(folder.glob("model*.safetensors")):
        stored |= load_file(file)
    return words, four_bits.decode(tensors.join_split(stored))


def _members_elsewhere(folder: Path, spec: Spec) -> dict[int, Path]:
    """Return number of a member -> the checkpoint that holds it.

    Raises:
        UserError: Such a checkpoint is missing or has changed.
    """
    folders = {number: folder / part.of for number, part in enumerate(spec.members) if part.of}
    for number, other in folders.items():
        part = spec.members[number]
        exists = (other / "config.json").exists() and (other / "vocab.json").exists()
        if not exists or content_hash(other) != part.of_hash:
            raise UserError(
                f"{folder} has a member in {part.of}, which is missing or has changed; restore "
                "that checkpoint or make the ensemble again."
            )
    return folders


def content_hash(folder: AnyPath) -> str:
    """Return 16 hex digits of the SHA-256 of weights, vocabulary and configuration.

    Those of members that other checkpoints hold are included.
    """
    folder = to_path(folder)
    digest = hashlib.sha256()
    others = [folder / part.of for part in read_spec(folder).members if part.of]
    for place in (folder, *others):
        for file in _content_files(place):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def files(folder: Path) -> list[Path]:
    """Return the files of a checkpoint, sorted; the folder of a run also has others."""
    return sorted(file for pattern in FILES for file in folder.glob(pattern))


def _content_files(folder: Path) -> list[Path]:
    """Return the files of weights, vocabulary and configuration."""
    weights = [*folder.glob("model*.safetensors"), *folder.glob(DIFFERENCE)]
    return [*sorted([*weights, folder / "vocab.json"]), folder / "config.json"]


def shipped() -> list[Path]:
    """Return the checkpoint folders that come with the project, without snapshots of runs."""
    folders = (path.parent for path in checkpoints_root().glob("**/config.json"))
    return sorted(folder for folder in folders if not folder.name.startswith((SNAPSHOT, ".")))


def check_photos(spec: Spec) -> None:
    """Raise UserError for a model without an image encoder."""
    if spec.features:
        return
    if spec.config.material == "concept_pairs":
        subject, commands = "concepts", "`python -m vsdemo walk` and `evaluate`"
    else:
        subject = "pairs of sentences"
        commands = "`python -m vsdemo sentences` and `evaluate --task nli`"
    raise UserError(f"{spec.preset} was trained without photos; it is for {subject}: {commands}.")


def feature_cache(spec: Spec) -> FeatureCache:
    """Return the cached features that a checkpoint was trained on.

    Raises:
        UserError: The backbone's weights are not those of the training, or the model is for tasks
            without photos.
    """
    check_photos(spec)
    cache = FeatureCache(spec.network, spec.config.crops)
    if spec.has_own_network:  # which knows the weights that it was trained over
        return cache
    if cache.hash != spec.backbone_hash:
        raise UserError(
            f"This checkpoint was trained on features of {spec.config.backbone} with weights "
            f"{spec.backbone_hash}, but the available weights are {cache.hash}; put the "
            "weights it was trained with into the models/ folder below VSDEMO_DATA."
        )
    return cache
