"""Small corpora of sentence pairs in the official layouts, and a model with given angles."""

import json
from types import SimpleNamespace

import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.scores import Cosine

SICK_FILES = {
    "train": "SICK_train.txt",
    "dev": "SICK_trial.txt",
    "test": "SICK_test_annotated.txt",
}
SICK_HEAD = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
LABELS = ("entailment", "neutral", "contradiction")
PAIRS = 24


def score(i: int) -> float:
    """Return the score of pair i, from 0 to 5; neighbours differ."""
    return i * 7 % 26 / 5


def texts(name: str, i: int) -> tuple[str, str]:
    """Return two sentences that are unique to a pair and a file."""
    return f"{name} first {i}", f"{name} second {i}"


def write(path, lines) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_year(folder, **subsets: int) -> None:
    """Write the given number of pairs per subset, every third of them without a score."""
    for name, n in subsets.items():
        name = name.replace("_", ".")
        rows = [texts(f"{folder.name} {name}", i) for i in range(n)]
        scores = ["" if i % 3 == 2 else f"{score(i):g}" for i in range(n)]
        write(folder / f"STS.input.{name}.txt", ["\t".join(row) for row in rows])
        write(folder / f"STS.gs.{name}.txt", scores)


def write_all(root) -> None:
    """Write sts/, stsbenchmark/, sick/ and snli_1.0/."""
    write_year(root / "sts" / "STS12-en-test", MSRvid=PAIRS, surprise_OnWN=12)
    write_year(root / "sts" / "STS13-en-test", headlines=15)
    for split in ("train", "dev", "test"):
        rows = [
            ("main", "x", "y", f"{i:04}", score(i), *texts(f"stsb {split}", i))
            for i in range(PAIRS)
        ]
        more = ("source", "source")  # some lines of the official files have these columns
        lines = ["\t".join(map(str, (*row, *more[: row[4] > 2]))) for row in rows]
        write(root / "stsbenchmark" / f"sts-{split}.csv", lines)
        rows = [
            (i, *texts(f"sick {split}", i), 1 + score(i) * 4 / 5, LABELS[i % 3].upper())
            for i in range(PAIRS)
        ]
        lines = [SICK_HEAD, *("\t".join(map(str, row)) for row in rows)]
        write(root / "sick" / SICK_FILES[split], lines)
        if split != "train":
            write_snli(root, split, [LABELS[i % 3] if i % 8 else "-" for i in range(PAIRS)])


def write_snli(root, split: str, labels) -> None:
    rows = [(label, *texts(f"snli {split}", i)) for i, label in enumerate(labels)]
    keys = ("gold_label", "sentence1", "sentence2", "pairID")
    lines = [json.dumps(dict(zip(keys, (*row, "1"), strict=True))) for row in rows]
    write(root / "snli_1.0" / f"snli_1.0_{split}.jsonl", lines)


def knowing(angles: dict[str, float], score=None) -> SimpleNamespace:
    """Return a model that embeds each sentence on the unit circle at its angle."""

    def encode(sentences, progress=None) -> Embeddings:
        angle = torch.tensor([angles[s.text] for s in sentences])
        return Embeddings(torch.stack([angle.cos(), angle.sin()], 1))

    text = SimpleNamespace(
        needs=frozenset({"words"}), unknown=lambda sentence: (sentence.text.split(), [])
    )
    return SimpleNamespace(score=score or Cosine(), text=text, encode_text=encode, device="cpu")
