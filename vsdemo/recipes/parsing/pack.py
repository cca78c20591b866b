"""Pack trained models into a folder that `stanza.Pipeline(dir=...)` loads, small enough to ship."""

from __future__ import annotations

import hashlib
import json
import os
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import torch
from torch import Tensor

from vsdemo.core import checksums
from vsdemo.core.paths import atomic

PACKAGE = "ewt"
KINDS = {
    "tokenize": "tokenizer.pt",
    "mwt": "expander.pt",
    "pos": "tagger.pt",
    "depparse": "averaged.pt",
    "pretrain": "pretrain.pt",
}
VECTORS = [{"model": "pretrain", "package": PACKAGE}]
LONGEST = 1000  # characters of a word; Stanza replaces longer ones by `<UNK>`
UNKNOWN = 1  # Stanza's number of unknown words


def small(value: Any) -> Any:
    """Return weights in half precision; Stanza copies them into float32 layers on loading."""
    if isinstance(value, Tensor):
        return value.half() if value.dtype == torch.float32 else value
    if isinstance(value, dict):
        return type(value)((k, small(v)) for k, v in value.items())
    return [small(v) for v in value] if isinstance(value, list) else value


def portable(config: dict[str, Any]) -> dict[str, Any]:
    """Return a model's settings without paths of the machine it was trained on."""
    return {k: None if isinstance(v, str) and os.sep in v else v for k, v in config.items()}


def pack_model(kind: str, source: Path, target: Path) -> None:
    """Write a small, portable model; word vectors stay float32, as Stanza needs them."""
    state = torch.load(source, weights_only=True)
    if kind != "pretrain":
        state["config"] = portable(state["config"])
        state["model"] = small(state["model"])
        state.pop("dev_score_history", None)
    if kind == "tokenize":
        state["config"]["max_seqlen"] = LONGEST
    if kind == "depparse":
        # Words take the place of lemmas at use: unknown ones get the vector of `no lemma`.
        lemmas = state["vocab"]["lemma"]["_unit2id"]
        state["model"]["lemma_emb.weight"][UNKNOWN] = state["model"]["lemma_emb.weight"][
            lemmas["_"]
        ]
    with BytesIO() as saved, atomic(target) as path:
        torch.save(state, saved)
        with ZipFile(saved) as whole, ZipFile(path, "w") as packed:
            for name in whole.namelist():  # a tenth smaller, and torch can still read it
                packed.writestr(ZipInfo(name), whole.read(name), ZIP_DEFLATED)


def pack(work: Path, out: Path, parser: str = KINDS["depparse"]) -> None:
    """Write models and `resources.json`, Stanza's list of a folder's models, with digests."""
    listed: dict[str, Any] = {"lang_name": "English"}
    for kind, name in (KINDS | {"depparse": parser}).items():
        path = out / "en" / kind / f"{PACKAGE}.pt"
        pack_model(kind, work / name, path)
        entry: dict[str, Any] = {"md5": hashlib.md5(path.read_bytes()).hexdigest()}
        if kind in ("pos", "depparse"):
            entry["dependencies"] = VECTORS
        listed[kind] = {PACKAGE: entry}
    default = {kind: PACKAGE for kind in KINDS if kind != "pretrain"} | {"lemma": "identity"}
    listed["packages"] = {"default": default}
    text = json.dumps({"en": listed}, indent=1) + "\n"
    checksums.write_files(out, {"resources.json": text.encode()})
