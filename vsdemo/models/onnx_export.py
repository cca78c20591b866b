"""Checkpoints and image networks as ONNX models, which run without vsdemo.

`export_checkpoint` writes four files:

    text.onnx        sentences as ids and lengths -> embeddings
    image.onnx       features of photos -> embeddings; not for a model without photos
    score.onnx       embeddings of a sentence and of photos -> scores
    checkpoint.json  how to make the inputs, with the vocabulary

`export_network` writes two:

    network.onnx     pixels of photos -> features
    network.json     how to make the pixels

Numbers of sentences, words, photos, regions and views are dynamic. Encoders that read a sentence as
a padded sequence of words or characters can be exported, and so can several of them with one
vocabulary. Encoders over trees, fragments of sentences or concepts cannot: their batches are not
padded sequences. Neither can kCCA with landmarks, as ONNX has no operator for its distances.
"""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic, short_name, write_text
from vsdemo.data.text.vocab import EOS, PAD, UNK, WORD
from vsdemo.encoders import Encoder
from vsdemo.models import checkpoint, licences
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.vision.backbones import find_weights
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.crops import REGIONS, VIEWS

# Sizes of dynamic dimensions in the tensors that a model is traced with. They differ from each
# other, and from 0 and 1, which torch.export takes for constants.
FEW, MORE = 2, 3
LONGEST_REASON = 200  # characters of an error of torch.export that are repeated


class Input(NamedTuple):
    """An input of an ONNX model.

    Attributes:
        example: A tensor to trace the model with.
        axes: Names of its dynamic dimensions, which come first.
        meaning: What it holds, in a clause.
    """

    example: Tensor
    axes: tuple[str, ...]
    meaning: str


class OnnxModel(NamedTuple):
    """A traced model, and what a JSON file says about its inputs and output."""

    program: torch.onnx.ONNXProgram
    about: dict[str, Any]


class _Function(nn.Module):
    """A function of tensors as a module.

    Args:
        function: The function.
        weights: The module whose weights it uses; None if it uses none.
    """

    def __init__(self, function: Callable[..., Any], weights: nn.Module | None = None) -> None:
        super().__init__()
        self.function = function
        self.weights = weights

    def forward(self, *tensors: Tensor) -> Any:
        return self.function(*tensors)


def export_checkpoint(folder: Path, to: Path) -> list[Path]:
    """Write the encoders and the score of a checkpoint as ONNX models.

    Args:
        folder: The checkpoint.
        to: Folder to write, which is made if it is missing. Files of the same names are replaced.

    Returns:
        The files.

    Raises:
        UserError: The checkpoint is damaged or cannot be exported, onnxscript is missing, or the
            folder holds a checkpoint or cannot be written.
    """
    _check(to)
    model, spec, _ = checkpoint.load(folder)
    if not model.text.inputs:
        raise UserError(
            f"{spec.preset} cannot be exported to ONNX; only models that read padded sequences of "
            "words or characters can. --to writes embeddings by any model of photos."
        )
    parts = {"text": _text(model.text)}
    if model.image is not None:
        parts["image"] = _image(model.image, spec)
    parts["score"] = _score(model)
    about = {
        "checkpoint": short_name(folder),
        "content_hash": checkpoint.content_hash(folder),
        "model": spec.label,
        "licence": licences.label(spec),
    }
    return _write(to, "checkpoint.json", about, parts)


def export_network(name: str, to: Path) -> list[Path]:
    """Write an image network as an ONNX model.

    Args:
        name: Name of a backbone, such as pocket.
        to: As for `export_checkpoint`.

    Returns:
        The files.

    Raises:
        UserError: The network is unknown, missing or cannot be exported, onnxscript is missing, or
            the folder holds a checkpoint or cannot be written.
    """
    _check(to)
    backbone = Backbone(find_weights(name))
    spec = backbone.net.spec
    if spec.own is not None:
        raise UserError(
            f"{name} has its own way to resize photos, so it cannot be used without its library; "
            "export pocket or a network of torchvision."
        )
    pixels = torch.zeros(FEW, MORE, 3, spec.size, spec.size, dtype=torch.uint8)
    meaning = "the views of photos, RGB from 0 to 255; the model normalizes them itself"
    network = _trace(
        _Function(backbone.encode, backbone),
        {"pixels": Input(pixels, ("photos", "views"), meaning)},
        output="features",
    )
    about = {
        "name": name,
        "hash": backbone.hash,
        "licence": licences.of_network(name).label,
        "size": spec.size,
        "short": spec.short,
        "resampling": spec.resampling.name.lower(),
        "mean": spec.mean,
        "std": spec.std,
        "views": {
            view: (inspect.getdoc(crops.cut) or "").partition(":")[0]
            for view, crops in VIEWS.items()
        },
        "meaning": "A view is a square of `size` pixels; make those `views` that the checkpoint "
        "names. `whole` resizes a photo to the square; for the others its short side is first "
        "resized to `short` pixels; `own` is `center`. Resize as PIL does. `mean` and `std` are "
        "for information: the model itself subtracts the mean and divides by std, with pixels from "
        "0 to 1.",
    }
    return _write(to, "network.json", about, {"network": network})


def _check(to: Path) -> None:
    """Raise UserError for a folder with a checkpoint, or if onnxscript is missing."""
    if (to / "config.json").exists():
        raise UserError(f"{to} already holds a checkpoint; choose another folder for --onnx.")
    if find_spec("onnxscript") is None:
        raise UserError("--onnx needs onnxscript: run `pip install onnxscript`, then try again.")


def _text(encoder: Any) -> OnnxModel:
    """Return the text encoder, and how its vocabulary is used."""
    ids = Input(
        torch.full((FEW, MORE), EOS), ("sentences", "length"), "the ids of tokens, then `padding`"
    )
    lengths = Input(torch.tensor([MORE, FEW]), ("sentences",), "numbers of ids without padding")
    model = _encoder(encoder, {"ids": ids, "lengths": lengths})
    about = {
        "pattern": WORD.pattern,
        "lowercase": True,
        "end": EOS,
        "unknown": UNK,
        "padding": PAD,
        "meaning": "Tokens are the matches of `pattern`, a regular expression of Python, in the "
        "sentence, which is changed to lower case if `lowercase`. The id of a token is its place "
        "in `vocabulary`, from 0, or `unknown`. The id `end`, unless it is null, comes last.",
        "vocabulary": encoder.vocab.words,
    }
    if encoder.reads_characters:
        about |= {"pattern": r"[\s\S]", "lowercase": False, "end": None}
    return OnnxModel(model.program, model.about | about)


def _image(encoder: Encoder, spec: Spec) -> OnnxModel:
    """Return the image encoder, and which network makes its features."""
    has_regions = spec.config.crops in REGIONS
    axes = ("photos", "regions") if has_regions else ("photos",)
    sizes = (FEW, MORE) if has_regions else (FEW,)
    features = torch.zeros(*sizes, spec.features)
    meaning = "the output of `network` for `views` of photos"
    model = _encoder(encoder, {"features": Input(features, axes, meaning)})
    about = {
        "network": spec.config.backbone,
        "network_hash": spec.backbone_hash,
        "views": spec.config.crops,
    }
    return OnnxModel(model.program, model.about | about)


def _encoder(encoder: Encoder, inputs: Mapping[str, Input]) -> OnnxModel:
    """Return an encoder."""

    def embed(*tensors: Tensor) -> Embeddings:
        return encoder(encoder.batch_of(*tensors))

    in_order = {name: inputs[name] for name in encoder.inputs}
    return _trace(_Function(embed, encoder), in_order, output="embeddings")


def _score(model: DualEncoder) -> OnnxModel:
    """Return the score, and what it means."""

    def scores(general: Tensor, specific: Tensor) -> Tensor:
        return model.score.pairs(Embeddings(general.expand_as(specific)), Embeddings(specific))

    dim = model.text.dim
    general = Input(torch.ones(1, dim), (), "the embedding of a sentence")
    specific = Input(torch.ones(FEW, dim), ("items",), "embeddings of photos, or of sentences")
    inputs = {"general": general, "specific": specific}
    traced = _trace(_Function(scores), inputs, output="scores")
    return OnnxModel(traced.program, traced.about | {"meaning": model.score.meaning})


def _trace(module: nn.Module, inputs: Mapping[str, Input], output: str) -> OnnxModel:
    """Trace a module in evaluation mode.

    Raises:
        UserError: PyTorch cannot trace it, or ONNX has no operator for a part of it.
    """
    axes = tuple(dict(enumerate(value.axes)) for value in inputs.values())
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about the exporter's own code
            program = torch.onnx.export(
                module.eval(),
                tuple(value.example.to(device()) for value in inputs.values()),
                input_names=list(inputs),
                output_names=[output],
                dynamic_shapes=(axes,),
                dynamo=True,
                verbose=False,
            )
    except torch.onnx.OnnxExporterError as error:
        reason = " ".join(str(error.__cause__ or error).split())[:LONGEST_REASON]
        raise UserError(f"PyTorch cannot export this model to ONNX ({reason}).") from None
    assert program is not None  # as there is no file name
    graph = program.model.graph
    in_order = zip(inputs.items(), graph.inputs, strict=True)
    about = {
        "inputs": {
            name: _type(value) | {"meaning": given.meaning} for (name, given), value in in_order
        },
        "outputs": {output: _type(graph.outputs[0])},
    }
    return OnnxModel(program, about)


def _type(value: Any) -> dict[str, Any]:
    """Return type and shape of an input or output; dynamic dimensions by name."""
    shape = [size if isinstance(size, int) else size.value for size in value.shape]
    return {"type": str(value.dtype.numpy()), "shape": shape}


def _write(
    to: Path, name: str, about: Mapping[str, Any], parts: Mapping[str, OnnxModel]
) -> list[Path]:
    """Write models and the JSON file about them; return the files.

    Raises:
        UserError: The folder cannot be written.
    """
    files = [to / f"{part}.onnx" for part in parts]
    described = {
        part: {"file": file.name, **model.about}
        for file, (part, model) in zip(files, parts.items(), strict=True)
    }
    try:
        for file, model in zip(files, parts.values(), strict=True):
            with atomic(file) as temporary:
                model.program.save(temporary)
        text = json.dumps({**about, **described}, indent=1, ensure_ascii=False)
        write_text(to / name, f"{text}\n")
    except OSError as error:
        raise UserError(f"{to} cannot be written ({error.strerror or error}).") from None
    return [*files, to / name]
