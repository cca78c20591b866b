"""Sentences to dependency trees: the shipped parser, or Stanza's English models where downloaded.

Text of several sentences becomes one tree: the first sentence's root is the root of all, the
roots of the others hang on it by the relation `parataxis`, as UD joins sentences side by side.
"""

from __future__ import annotations

import hashlib
import json
import logging
import unicodedata
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import torch

from vsdemo.core.device import device
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT, checkpoints_root
from vsdemo.core.sentences import BinaryTree, Tree
from vsdemo.data.text.constituents import from_phrases

PARSERS = ("shipped", "stanza")
MOST_WORDS = 250  # of a sentence: memory grows with the square, and no caption is half as long
MOST_CHARACTERS = 1000  # of a word
WORDS_A_BATCH = 4000
FOLDER = "stanza-en"
_LOADING = Lock()
PROCESSORS = "tokenize,mwt,pos,lemma,depparse"


class Parser(Protocol):
    """What turns texts into trees.

    version: changes whenever the trees would.
    """

    version: str
    has_constituency: bool  # a model for constituency trees

    def parse(self, texts: Sequence[str]) -> list[Tree]:
        """The tree of each text. Raises UserError for text without a word, or with too many."""

    def constituency(self, texts: Sequence[str]) -> list[BinaryTree]:
        """The binarised constituency tree of each text; needs `has_constituency`."""


def load(name: str = "shipped") -> Parser:
    """A parser of PARSERS, loaded once a process, also when two visitors ask at once.

    Raises UserError when there is no such parser, or its files are missing or damaged.
    """
    with _LOADING:
        return _load(name)


@cache
def _load(name: str) -> Parser:
    if name == "shipped":
        return StanzaParser(name, checkpoints_root() / FOLDER)
    if name == "stanza":
        return StanzaParser(name, _downloaded())
    raise UserError(f"There is no parser {name!r}; valid are {', '.join(PARSERS)}.")


def is_pipeline(folder: Path) -> bool:
    """Whether this is a folder of Stanza models, not a checkpoint of ours."""
    return (folder / "resources.json").is_file()


def check_models(folder: Path) -> str:
    """The version of a folder of models: a digest of its files' own digests.

    Raises UserError naming the first file that is missing or damaged, and what restores it.
    """
    again = f"restore it with `git -C {ROOT} checkout -- checkpoints/{FOLDER}`, or make it anew "
    again += f"with `python -m vsdemo train-parser --out {folder}`."
    try:
        listed = json.loads((folder / "resources.json").read_text(encoding="utf-8"))["en"]
        models = {
            folder / "en" / kind / f"{package}.pt": facts["md5"]
            for kind, packages in listed.items()
            if kind not in ("lang_name", "packages")
            for package, facts in packages.items()
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise UserError(f"{folder / 'resources.json'} is missing or damaged; {again}") from None
    for path, digest in models.items():
        if not path.is_file():
            raise UserError(f"{path} is missing; {again}")
        if hashlib.md5(path.read_bytes()).hexdigest() != digest:
            raise UserError(f"{path} is damaged; {again}")
    return hashlib.sha256("".join(models.values()).encode()).hexdigest()[:12]


def _downloaded() -> Path:
    from stanza.resources.common import DEFAULT_MODEL_DIR

    folder = Path(DEFAULT_MODEL_DIR)
    if not (folder / "en" / "depparse").is_dir():
        raise UserError(
            "Stanza's English models are not here; with internet, `python -c \"import stanza; "
            "stanza.download('en')\"` brings them."
        )
    return folder


def normalize(text: str) -> str:
    """The text without control characters, its white space single.

    Raises UserError when no visible character is left.
    """
    kept = "".join(" " if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in text)
    if not (kept := " ".join(kept.split())):
        raise UserError("The sentence is empty; type at least one word.")
    return kept


class StanzaParser:
    """A Stanza pipeline over a folder of models."""

    def __init__(self, name: str, folder: Path) -> None:
        digest = check_models(folder) if name == "shipped" else None
        import stanza

        resources = hashlib.sha256((folder / "resources.json").read_bytes()).hexdigest()[:12]
        self.version = digest or f"{stanza.__version__}-{resources}"
        self._lock = Lock()  # the pipeline keeps state between its steps
        logging.getLogger("stanza").setLevel(logging.ERROR)
        self.has_constituency = (folder / "en" / "constituency").is_dir()
        try:
            self._pipeline = stanza.Pipeline(
                "en",
                str(folder),
                processors=PROCESSORS + ",constituency" * self.has_constituency,
                download_method=None,
                device=str(device()),
                verbose=False,
                depparse_batch_size=WORDS_A_BATCH,
            )
        except Exception as error:  # a damaged model fails in as many ways as there are bytes
            raise UserError(
                f"The models in {folder} cannot be loaded ({type(error).__name__}: {error})."
            ) from error

    def parse(self, texts: Sequence[str]) -> list[Tree]:
        """The tree of each text. Raises UserError for text without a word, or with too many."""
        return [_joined(document) for document in self._documents(texts)]

    def constituency(self, texts: Sequence[str]) -> list[BinaryTree]:
        """The binarised constituency tree of each text; needs `has_constituency`."""
        return [from_phrases([s.constituency for s in d.sentences]) for d in self._documents(texts)]

    def _documents(self, texts: Sequence[str]) -> list[Any]:
        import stanza

        tidied = [normalize(text) for text in texts]
        for text in tidied:
            words = text.split()
            if len(words) > MOST_WORDS:
                raise UserError(
                    f"The sentence has {len(words):,} words; at most {MOST_WORDS} can be parsed; "
                    "shorten it."
                )
            if max(map(len, words)) > MOST_CHARACTERS:
                raise UserError(f"The sentence has a word of over {MOST_CHARACTERS:,} characters.")
        plain = torch.autocast(device().type, enabled=False)  # Stanza knows no half precision
        with self._lock, plain, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            documents = [stanza.Document([], text=text) for text in tidied]
            return self._pipeline.bulk_process(documents) if documents else []


def _joined(document: Any) -> Tree:
    words, heads, labels, tags = [], [], [], []
    root = 0
    for sentence in document.sentences:
        offset = len(words)
        for word in sentence.words:
            words.append("".join(word.text.split()) or "_")
            tags.append(word.upos or "X")
            heads.append(word.head + offset if word.head else root)
            labels.append(word.deprel if word.head or not root else "parataxis")
        root = root or heads.index(0) + 1
    if not words:
        raise UserError("The sentence holds no word; type at least one.")
    return Tree(tuple(words), tuple(heads), tuple(labels), tuple(tags))
