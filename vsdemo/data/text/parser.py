"""Parsing sentences, with the included parser or with Stanza's downloaded English models.

A text of several sentences becomes one tree. The root of its first sentence is the root of the
tree; the roots of the others depend on it by the relation `parataxis`, as in UD.
"""

from __future__ import annotations

import hashlib
import logging
import unicodedata
import warnings
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import torch

from vsdemo.core import checksums, json_files
from vsdemo.core.device import device
from vsdemo.core.errors import UserError
from vsdemo.core.language import number, translate
from vsdemo.core.paths import checkpoints_root
from vsdemo.core.sentences import BinaryTree, Tree
from vsdemo.data.text.constituents import from_phrases

PARSERS = ("shipped", "stanza")
MAX_WORDS = 250  # of a sentence, because memory grows with the square of the length
MAX_CHARACTERS = 1000  # of a word
BATCH_WORDS = 4000
FOLDER = "stanza-en"
_LOADING = Lock()
PROCESSORS = "tokenize,mwt,pos,lemma,depparse"


class Parser(Protocol):
    """Turns texts into trees.

    Attributes:
        version: Changes whenever the trees change.
        has_constituency: Whether there is a model for constituency trees.
    """

    version: str
    has_constituency: bool

    def __hash__(self) -> int:
        """Parsers are keys of caches."""

    def load_models(self) -> None:
        """Load the models now, so that the first text need not wait for them.

        Raises:
            UserError: They cannot be loaded.
        """

    def parse(self, texts: Sequence[str]) -> list[Tree]:
        """Return the dependency tree of each text.

        Raises:
            UserError: A text has no words, or too many.
        """

    def constituency(self, texts: Sequence[str]) -> list[BinaryTree]:
        """Return the binary constituency tree of each text, if `has_constituency`."""


def load(name: str = "shipped") -> Parser:
    """Return a parser; there is one of each per process.

    Args:
        name: One of `PARSERS`.

    Raises:
        UserError: There is no such parser, or its files are missing or damaged.
    """
    with _LOADING:
        return _load(name)


@cache
def _load(name: str) -> Parser:
    if name == "shipped":
        return StanzaParser(name, checkpoints_root() / FOLDER)
    if name == "stanza":
        return StanzaParser(name, _downloaded())
    raise UserError(f"There is no parser {name!r}; valid parsers are {', '.join(PARSERS)}.")


def is_pipeline(folder: Path) -> bool:
    """Return whether this is a folder of Stanza models rather than a checkpoint."""
    return (folder / "resources.json").is_file()


def check_models(folder: Path) -> str:
    """Verify a folder of models and return its version, a digest of its files' digests.

    Raises:
        UserError: A file is missing or damaged; the message says how to restore it.
    """
    remedy = (
        f"restore it with `git restore checkpoints/{FOLDER}`, or retrain it with "
        f"`python -m vsdemo train-parser --out {folder}`."
    )
    checksums.check(folder / "resources.json")
    try:
        listed = json_files.load(folder / "resources.json")["en"]
        models = {
            folder / "en" / kind / f"{package}.pt": facts["md5"]
            for kind, packages in listed.items()
            if kind not in ("lang_name", "packages")
            for package, facts in packages.items()
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise UserError(f"{folder / 'resources.json'} is missing or damaged; {remedy}") from None
    for path, digest in models.items():
        if not path.is_file():
            raise UserError(f"{path} is missing; {remedy}")
        if hashlib.md5(path.read_bytes()).hexdigest() != digest:
            raise UserError(f"{path} is damaged; {remedy}")
    return hashlib.sha256("".join(models.values()).encode()).hexdigest()[:12]


def _downloaded() -> Path:
    from stanza.resources.common import DEFAULT_MODEL_DIR

    folder = Path(DEFAULT_MODEL_DIR)
    if not (folder / "en" / "depparse").is_dir():
        raise UserError(
            "Stanza's English models are missing; download them with `python -c \"import stanza; "
            "stanza.download('en')\"`."
        )
    return folder


def _version(folder: Path) -> str:
    import stanza

    resources = hashlib.sha256((folder / "resources.json").read_bytes()).hexdigest()[:12]
    return f"{stanza.__version__}-{resources}"


def normalize(text: str) -> str:
    """Return a text with single spaces and without control characters.

    Raises:
        UserError: No visible character is left.
    """
    kept = "".join(" " if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in text)
    if not (kept := " ".join(kept.split())):
        raise UserError(translate("The sentence is empty; type at least one word."))
    return kept


class StanzaParser:
    """A Stanza pipeline over a folder of models, which are loaded for the first text."""

    def __init__(self, name: str, folder: Path) -> None:
        self._folder = folder
        self.version = check_models(folder) if name == "shipped" else _version(folder)
        self._lock = Lock()  # the pipeline keeps state between its steps
        self.has_constituency = (folder / "en" / "constituency").is_dir()

    @cached_property
    def _pipeline(self) -> Any:
        import stanza

        logging.getLogger("stanza").setLevel(logging.ERROR)
        try:
            return stanza.Pipeline(
                "en",
                str(self._folder),
                processors=PROCESSORS + ",constituency" * self.has_constituency,
                download_method=None,
                device=str(device()),
                verbose=False,
                depparse_batch_size=BATCH_WORDS,
            )
        except Exception as error:  # damaged models raise all kinds of errors
            raise UserError(
                f"The models in {self._folder} cannot be loaded ({type(error).__name__}: {error})."
            ) from error

    def load_models(self) -> None:
        """Load the models now, so that the first text need not wait for them.

        Raises:
            UserError: They cannot be loaded.
        """
        with self._lock:
            _ = self._pipeline

    def parse(self, texts: Sequence[str]) -> list[Tree]:
        """Return the dependency tree of each text.

        Raises:
            UserError: A text has no words, or too many, or the models cannot be loaded.
        """
        return [_joined(document) for document in self._documents(texts)]

    def constituency(self, texts: Sequence[str]) -> list[BinaryTree]:
        """Return the binary constituency tree of each text, if `has_constituency`."""
        return [from_phrases([s.constituency for s in d.sentences]) for d in self._documents(texts)]

    def _documents(self, texts: Sequence[str]) -> list[Any]:
        import stanza

        normalized = [normalize(text) for text in texts]
        for text in normalized:
            words = text.split()
            if len(words) > MAX_WORDS:
                raise UserError(
                    translate(
                        "The sentence has {count} words; shorten it to at most {most}.",
                        count=number(len(words)),
                        most=MAX_WORDS,
                    )
                )
            if max(map(len, words)) > MAX_CHARACTERS:
                raise UserError(
                    translate(
                        "The sentence has a word of over {most} characters.",
                        most=number(MAX_CHARACTERS),
                    )
                )
        full_precision = torch.autocast(device().type, enabled=False)  # Stanza needs it
        with self._lock, full_precision, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            documents = [stanza.Document([], text=text) for text in normalized]
            return self._pipeline.bulk_process(documents) if documents else []


def _joined(document: Any) -> Tree:
    """Join the sentences of a document to one tree."""
    words: list[str] = []
    heads: list[int] = []
    labels: list[str] = []
    tags: list[str] = []
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
        raise UserError(translate("The sentence contains no words; type at least one."))
    return Tree(tuple(words), tuple(heads), tuple(labels), tuple(tags))
