"""Parsing accuracy of a pipeline: the metrics of the CoNLL 2018 shared task."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import stanza
from stanza.utils.conll import CoNLL
from udtools import udeval

from vsdemo.core import markdown
from vsdemo.core.errors import UserError
from vsdemo.core.paths import write_text
from vsdemo.data import datasets
from vsdemo.data.text import conllu, parser
from vsdemo.evaluation import cards
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.models.licences import PARSER
from vsdemo.recipes.parsing import treebank

METRICS = {"upos": "UPOS", "xpos": "XPOS", "uas": "UAS", "las": "LAS"}
RAW_METRICS = {"words": "Words", "sentences": "Sentences", **METRICS}


def evaluate(folder: Path, split: str = "test") -> dict[str, dict[str, float]]:
    """Return F1 scores over words, in percent, on a split of UD English EWT.

    Relations are compared without their subtypes, as in the shared task.

    Returns:
        `gold_tokens`, where words and sentences are given and tags and trees are predicted, and
        `raw_text`, where the whole pipeline reads plain text.

    Raises:
        UserError: If models or treebank are missing or damaged, or there is no such split.
    """
    if split not in ("train", "dev", "test"):
        raise UserError(f"UD English EWT has no split {split!r}; use one of train, dev, test.")
    parser.check_models(folder)
    text = treebank.read(split)
    words = [[r for r in rows if r[0].isdigit()] for rows in treebank.sentences(text)]
    gold = "".join("\n".join("\t".join(r) for r in rows) + "\n\n" for rows in words)
    tokens = [[row[1] for row in rows] for rows in words]
    tagged = pipeline(folder, tokenize_pretokenized=True)(tokens)
    raw = pipeline(folder)(treebank.plain_text(text))
    return {
        "gold_tokens": compare(gold, tagged, METRICS),
        "raw_text": compare(text, raw, RAW_METRICS),
    }


def on_storybook(folder: Path, split: str = "test") -> dict[str, float]:
    """Return F1 scores, in percent, on the captions of a split of Storybook.

    Their trees are known. The pipeline reads raw text, each caption as a paragraph.

    Raises:
        UserError: If there is no such split.
    """
    parser.check_models(folder)
    _, captions = stories(datasets.load("storybook", split))
    gold = "".join(conllu.write(caption.tree, caption.text) for caption in captions)
    raw = pipeline(folder, tokenize_no_ssplit=True)("\n\n".join(c.text for c in captions))
    metrics = {k: v for k, v in RAW_METRICS.items() if k != "xpos"}  # gold trees have no xpos
    return compare(gold, raw, metrics)


def pipeline(folder: Path, **options: Any) -> Any:
    """Return the Stanza pipeline of a folder."""
    return stanza.Pipeline(
        "en",
        str(folder),
        processors=parser.PROCESSORS,
        download_method=None,
        verbose=False,
        **options,
    )


def compare(gold: str, document: Any, metrics: dict[str, str]) -> dict[str, float]:
    """Return F1 scores, in percent, of a parsed document against gold CoNLL-U."""
    predicted = io.StringIO()
    CoNLL.write_doc2conll(document, predicted)
    gold_trees = udeval.load_conllu(io.StringIO(gold), "", {})
    predicted_trees = udeval.load_conllu(io.StringIO(predicted.getvalue()), "", {})
    scores = udeval.evaluate(gold_trees, predicted_trees)
    return {ours: round(100 * scores[theirs].f1, 2) for ours, theirs in metrics.items()}


CARD = """\
Tokenizer, expander of multi-word tokens, tagger (UPOS, XPOS) and graph-based dependency parser in
the folder layout of Stanza:

    stanza.Pipeline("en", dir="checkpoints/stanza-en", download_method=None,
                    processors="tokenize,mwt,pos,lemma,depparse")

Lemmas are the words themselves. Trained with Stanza's own training code on UD English EWT (train),
word vectors of our own from EWT, captions of Flickr30k and Flickr8k (no dev or test photo of
Flickr8k) and WordNet's glosses, and {silver:,} silver trees of captions of photos outside Flickr8k.
To train it again, in about two hours on two cores:

    python -m vsdemo train-parser --out checkpoints/stanza-en

Seed 1234. Licence of the weights: {licence.label}. They learned from {licence.terms}.

F1 over words in percent, by the CoNLL 2018 metric (relations without subtypes):

{table}"""


def table(metrics: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return a Markdown table of metrics by split and by kind of input."""
    rows = [
        [split, kind.replace("_", " "), *(f"{values[metric]:.1f}" for metric in METRICS)]
        for split, kinds in metrics.items()
        for kind, values in kinds.items()
    ]
    return markdown.table(["split", "input", *METRICS.values()], rows)


def finish(folder: Path, silver: int) -> None:
    """Measure a pipeline on dev and test; write metrics.json and the model card."""
    metrics = {split: evaluate(folder, split) for split in ("dev", "test")}
    write_text(folder / "metrics.json", json.dumps(metrics, indent=1) + "\n")
    write_text(folder / "README.md", card(metrics, silver=silver))


def card(metrics: dict[str, dict[str, dict[str, float]]], *, silver: int) -> str:
    """Return the model card.

    Args:
        metrics: Metrics by split and by kind of input.
        silver: The number of silver trees that it was trained on.
    """
    return cards.document(
        "Dependency parser for English, small",
        tags=["dependency-parsing", "english"],
        licence=PARSER,
        paragraphs=[CARD.format(silver=silver, table=table(metrics), licence=PARSER)],
        library="stanza",
    )
