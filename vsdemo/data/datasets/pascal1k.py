"""UIUC Pascal sentences (Rashtchian et al. 2010): 1,000 photos, five captions each.

There is no official split; the papers use 800/100/100. Here the sorted file names are shuffled
with `random.Random(seed)` and cut in that order, seed 0 unless stated.
"""

from __future__ import annotations

import json
import random
from typing import Any

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.paths import require_data

HOW_TO_GET = (
    "put the photos into $VSDEMO_DATA/pascal1k/images and their captions, "
    '{"file.jpg": {"captions": [...]}}, into $VSDEMO_DATA/pascal1k/pascal_sentences.json'
)
CUTS = {"train": (0, 800), "dev": (800, 900), "test": (900, 1000), "all": (0, 1000)}


def read_captions() -> dict[str, dict[str, Any]]:
    """File name -> {category, captions}."""
    path = require_data("pascal1k", "pascal_sentences.json", what="Pascal1K")
    return json.loads(path.read_text(encoding="utf-8"))


def load(split: str, seed: int = 0) -> CaptionSet:
    """One split of the seeded 800/100/100. Raises UserError when files are missing."""
    captions = read_captions()
    names = sorted(captions)
    random.Random(seed).shuffle(names)
    names = names[slice(*CUTS[split])]
    folder = require_data("pascal1k", "images", what="Pascal1K")
    texts = [captions[n]["captions"] for n in names]
    return CaptionSet(
        f"pascal1k:{seed}" if seed else "pascal1k",
        split,
        tuple(folder / n for n in names),
        tuple(t.strip() for of_one in texts for t in of_one),
        tuple(i for i, of_one in enumerate(texts) for _ in of_one),
    )


def check() -> tuple[list[str], list[str]]:
    """(facts, problems) about the files' counts."""
    captions = read_captions()
    folder = require_data("pascal1k", "images", what="Pascal1K")
    counts = [len(v["captions"]) for v in captions.values()]
    facts = [
        f"{len(captions):,} photos, {sum(counts):,} captions ({min(counts)} to {max(counts)} each)",
        "split of our own, seed 0: train 800, dev 100, test 100",
    ]
    problems = [f"{n} does not exist" for n in sorted(captions) if not (folder / n).exists()]
    if len(captions) != 1000:
        problems.append(f"{len(captions):,} photos, expected 1,000")
    return facts, problems
