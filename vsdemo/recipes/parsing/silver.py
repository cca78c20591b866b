"""Silver trees: captions parsed by our own parser, with one systematic error corrected.

Captions are often noun phrases: "Two dogs playing in snow ." Newspaper and web text rarely is, so a
parser trained on it takes `playing` for the main verb. In UD a participle without an auxiliary is
not a predicate: the noun is the root, and the participle its clause (`acl`).
"""

from __future__ import annotations

import random
from pathlib import Path

from tqdm import tqdm

from vsdemo.data.text.vectors import corpus_sentences
from vsdemo.recipes.parsing import score, treebank
from vsdemo.recipes.parsing.pack import pack
from vsdemo.recipes.parsing.treebank import Rows

WORD, UPOS, XPOS, HEAD, LABEL = 1, 3, 4, 6, 7
PARTICIPLES, FINITE = ("VBG", "VBN"), ("VBZ", "VBP", "VBD", "MD")
SUBJECTS, AUXILIARIES = ("nsubj", "nsubj:pass"), ("aux", "aux:pass", "cop", "expl")
SENTENCES, CHUNK = 12_000, 500


def captions(seed: int = 0) -> list[str]:
    """Return captions of photos outside Flickr8k; a third are in lower case, as users type."""
    sentences = [line.rstrip("\n") for line in corpus_sentences()]
    sample = random.Random(seed).sample(sentences, SENTENCES)
    return [t.lower().rstrip(" .") if i % 3 == 0 else t for i, t in enumerate(sample) if t.strip()]


def repair(rows: Rows) -> Rows | None:
    """Return a caption's tree with the noun as root if the verb is a bare participle.

    Returns None for a doubtful tree: a noun is the root although there is a finite verb outside of
    all clauses, or what would become the root is not a plain subject.
    """
    rows = [list(row) for row in rows if row[0].isdigit()]
    root = next(row for row in rows if row[HEAD] == "0")
    below = [row for row in rows if row[HEAD] == root[0]]
    labels = [row[LABEL] for row in below]
    if root[XPOS] in PARTICIPLES and not set(labels) & set(AUXILIARIES):
        subjects = [row for row in below if row[LABEL] in SUBJECTS]
        if len(subjects) != 1 or int(subjects[0][0]) > int(root[0]):
            return None
        if subjects[0][UPOS] not in ("NOUN", "PROPN", "PRON"):
            return None
        return _with_noun_root(rows, subjects[0], root)
    if root[XPOS] in PARTICIPLES or root[UPOS] == "VERB" or "cop" in labels:
        return rows
    main = [r for r in below if r[XPOS] in FINITE and r[LABEL] not in ("acl:relcl", "advcl")]
    return None if main or root[UPOS] not in ("NOUN", "PROPN", "PRON", "NUM") else rows


def _with_noun_root(rows: Rows, subject: list[str], verb: list[str]) -> Rows | None:
    for row in rows:
        if row[HEAD] != verb[0] or row is subject:
            continue
        if row[LABEL] in ("punct", "parataxis") or int(row[0]) < int(subject[0]):
            row[HEAD] = subject[0]
        elif row[LABEL] == "conj" and row[XPOS] in FINITE:
            return None
    subject[HEAD], subject[LABEL] = "0", "root"
    verb[HEAD], verb[LABEL] = subject[0], "acl"
    return rows


def balanced(trees: list[Rows], seed: int = 0) -> list[Rows]:
    """Return as many trees with a nominal root, which are rarer, as with another root."""
    nominal: list[Rows] = []
    other: list[Rows] = []
    for rows in trees:
        root = next(row for row in rows if row[HEAD] == "0")
        (nominal if root[UPOS] in ("NOUN", "PROPN", "PRON", "NUM") else other).append(rows)
    chosen = nominal + other[: len(nominal)]
    random.Random(seed).shuffle(chosen)
    return chosen


def silver(work: Path) -> None:
    """Write silver.conllu with the models trained so far."""
    pack(work, work / "pipeline", parser="parser.pt")
    parse = score.pipeline(work / "pipeline", tokenize_no_ssplit=True)
    texts, trees = captions(), []
    for start in tqdm(range(0, len(texts), CHUNK), desc="silver trees"):
        document = parse("\n\n".join(texts[start : start + CHUNK]))
        text = f"{document:C}\n\n"
        for rows in treebank.sentences(text):
            if (repaired := repair(rows)) is not None:
                trees.append(treebank.clean(repaired))
    treebank.write(work / "silver.conllu", balanced(trees))
