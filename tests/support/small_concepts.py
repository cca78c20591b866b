"""Small taxonomies, a few nouns in WordNet's format, and models with given vectors."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from vsdemo.data.pairs.wordnet import Taxonomy
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.concepts import ConceptTable
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import SCORES, Score

THINGS = (
    ("animal", "thing"),
    ("plant", "thing"),
    ("toy", "thing"),
    ("dog", "animal"),
    ("cat", "animal"),
    ("puppy", "dog"),
    ("teddy", "toy"),
    ("tree", "plant"),
    ("flower", "plant"),
    ("oak", "tree"),
    ("robot dog", "toy"),
    ("robot dog", "dog"),
)  # 12 concepts, one of them with two hypernyms
CONCEPTS, ABOVE = 12, 23  # concepts, and edges of the transitive closure

DATA = """\
  1 This software and database is being provided to you, the LICENSEE, by
  2 Princeton University under the following license.
00001740 03 n 01 entity 0 003 ~ 00001930 n 0000 ~ 00004475 n 0000 + 01740000 a 0101 | what is
00001930 03 n 02 living_thing 0 animate_thing 0 002 @ 00001740 n 0000 ~ 00015388 n 0000 | alive
00004475 18 n 01 dog 4 002 @ 00001930 n 0000 ;u 07157273 n 0000 | a man | "lucky dog"
00015388 05 n 0b dog 0 domestic_dog 0 c 0 d 0 e 0 f 0 g 0 h 0 i 0 j 0 Canis_familiaris 0 003 \
@ 00001930 n 0000 @ 00021939 n 0000 ~i 00031264 n 0000 | a pet
00021939 06 n 01 Possession 0 001 @ 00001740 n 0000 | what one has
00031264 18 n 01 Rin_Tin_Tin 0 001 @i 00015388 n 0000 | of films
"""
INDEX = """\
  1 This software and database is being provided to you, the LICENSEE, by
dog n 2 3 @ ~ ~i 2 1 00015388 00004475
domestic_dog n 1 1 @ 1 0 00015388
entity n 1 1 ~ 1 1 00001740
living_thing n 1 2 @ ~ 1 1 00001930
possession n 1 1 @ 1 0 00021939
rin_tin_tin n 1 1 @ 1 0 00031264
"""
NOUNS = {
    "entity.n.01": set(),
    "living_thing.n.01": {"entity.n.01"},
    "dog.n.02": {"living_thing.n.01"},
    "dog.n.01": {"living_thing.n.01", "possession.n.01"},
    "possession.n.01": {"entity.n.01"},
    "rin_tin_tin.n.01": {"dog.n.01"},
}  # name -> direct hypernyms


def write(path: Path, pairs=THINGS) -> Path:
    """Write a taxonomy to a file."""
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    return path


def write_nouns(folder: Path, data: str = DATA, index: str = INDEX) -> Path:
    """Write WordNet's two files to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data.noun").write_text(data, encoding="latin-1")
    (folder / "index.noun").write_text(index, encoding="latin-1")
    return folder


def grown(concepts: int, seed: int = 0) -> list[tuple[str, str]]:
    """Return random (concept, hypernym) pairs; all concepts but the first have one or two."""
    draw = np.random.default_rng(seed)
    return [
        (f"c{i}", f"c{above}")
        for i in range(1, concepts)
        for above in dict.fromkeys(draw.integers(0, i, 2).tolist())
    ]


def ancestors(taxonomy: Taxonomy) -> list[set[int]]:
    """Return the indices of all hypernyms of each concept."""

    def up(i: int) -> set[int]:
        return {a for parent in taxonomy.parents[i] for a in ({parent} | up(parent))}

    return [up(i) for i in range(len(taxonomy.names))]


def model(names: tuple[str, ...], rows: Tensor, score: Score | None = None) -> DualEncoder:
    """Return a model with the rows (C, D) as embeddings; its default score is order-embeddings."""
    table = ConceptTable(Vocab(tuple(names)), rows.shape[1], nonnegative=score is None)
    with torch.no_grad():
        table.table.weight.copy_(rows)
    return DualEncoder(table, None, score or SCORES["order"]).eval()


def knowing(taxonomy: Taxonomy) -> DualEncoder:
    """Return order-embeddings that are correct for all pairs.

    Each concept has a dimension, which is 1 for itself and its hyponyms.
    """
    size = len(taxonomy.names)
    rows = torch.eye(size)
    for i, above in enumerate(ancestors(taxonomy)):
        rows[i, list(above)] = 1
    return model(taxonomy.names, rows)
