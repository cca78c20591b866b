"""How alike are two sentences? (Merckx & Frank 2019, sections 3.4 and 4.2, Table 5 and Figure 3.)

Correlation of what the text tower says with people's scores. STS 2012-2015 and any other year: the
cosine of both embeddings. `STS-B` and `SICK-R`: a small classifier on them (`tasks.relatedness`),
learnt on their train split, its strength chosen on dev; `STS-B.cosine` and `SICK-R.cosine` the
plain cosine beside it. A set of fragments is the mean of its points.

The mean of a year's subsets, and of all subsets of all years as `STS`, are our own: Table 5 has the
subsets alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.data.pairs import sts
from vsdemo.data.pairs.sts import ScoredPair
from vsdemo.evaluation.metrics.correlation import Correlations, correlation
from vsdemo.evaluation.metrics.ranks import bootstrap
from vsdemo.evaluation.metrics.relatedness import fitted, pair_features
from vsdemo.evaluation.tasks.text_embeddings import Texts, points
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "STS-B"
TEXT_ONLY = True
SHOWN = [
    f"{name} pearson" for name in ("STS-B", "SICK-R", *(f"STS{y}" for y in range(12, 17)), "STS")
]
# name -> (what reads a split, the whole numbers of its scale)
LEARNT: dict[str, tuple[Callable[[str], Sequence[ScoredPair]], range]] = {
    "STS-B": (sts.benchmark, range(sts.MIN_SCORE, sts.MAX_SCORE + 1)),
    "SICK-R": (sts.relatedness, range(1, 6)),
}
SPLITS = ("dev", "test")


def texts_of(pairs: Iterable[ScoredPair]) -> list[str]:
    """Both sentences of each pair."""
    return [text for pair in pairs for text in (pair.a, pair.b)]


def both(texts: Texts, pairs: Sequence[ScoredPair]) -> tuple[Tensor, Tensor]:
    """The points of the first and of the second sentences, (N, D) each."""
    return points(texts.of([p.a for p in pairs])), points(texts.of([p.b for p in pairs]))


def gold(pairs: Sequence[ScoredPair]) -> Tensor:
    """What people say, (N,)."""
    return torch.tensor([pair.score for pair in pairs])


def _agreement(said: Tensor, scores: Tensor) -> float:
    return correlation(said.double().numpy(), scores.double().numpy())


def learnt(texts: Texts, name: str, split: str) -> Tensor:
    """The classifier's scores for the pairs of a split of one of LEARNT, (N,)."""
    load, scale = LEARNT[name]
    train, dev = (
        (pair_features(*both(texts, load(part))), gold(load(part))) for part in ("train", "dev")
    )
    wanted = pair_features(*both(texts, load(split)))
    return fitted(train, dev, wanted, scale, _agreement)


def dev_is_here() -> bool:
    """Whether `on_dev` finds its data."""
    try:
        return all(load("dev") for load, _ in LEARNT.values())
    except UserError:
        return False


def on_dev(model: DualEncoder) -> dict[str, float]:
    """Pearson's r times 100 of the plain cosine on the dev split of STS-B and of SICK-R, and their
    mean as `mean`: nothing is learnt, and no test seen. Raises UserError when data are missing."""
    sets = {name: load("dev") for name, (load, _) in LEARNT.items()}
    texts = Texts(model, texts_of(pair for pairs in sets.values() for pair in pairs))
    found = {
        name: 100 * _agreement(F.cosine_similarity(*both(texts, pairs)), gold(pairs))
        for name, pairs in sets.items()
    }
    return {**found, "mean": sum(found.values()) / len(found)}


def measure(
    model: DualEncoder, split: str = "test", sts_dir: Path | None = None
) -> tuple[Correlations, dict[str, int]]:
    """(what was found, of how many sentences of each set the model knows no word).

    On dev only STS-B and SICK-R are measured; the other sets are for tests alone. sts_dir: more
    years, as `data.sts.load_years` takes them.
    Raises UserError for other splits, and when data are missing or damaged.
    """
    if split not in SPLITS:
        raise UserError(f"Sentence similarity is measured on dev or test, not on {split}.")
    plain = sts.load_years(sts_dir) if split == "test" else {}
    needed = [load(part) for load, _ in LEARNT.values() for part in ("train", "dev", "test")]
    texts = Texts(model, texts_of(p for pairs in (*plain.values(), *needed) for p in pairs))
    sets, said = {}, {}
    for name, (load, _) in LEARNT.items():
        sets |= {name: load(split), f"{name}.cosine": load(split)}
        said[name] = learnt(texts, name, split)
    sets |= plain
    for name, pairs in sets.items():
        if name not in said:
            said[name] = F.cosine_similarity(*both(texts, pairs))
    years = dict.fromkeys(name.split(".")[0] for name in plain)
    groups = {year: tuple(n for n in plain if n.split(".")[0] == year) for year in years}
    groups |= {sts.ALL: tuple(plain)} if plain else {}
    return Correlations.of(
        {name: said[name].double().numpy() for name in sets},
        {name: gold(pairs).double().numpy() for name, pairs in sets.items()},
        groups,
    ), {name: texts.unknown(texts_of(pairs)) for name, pairs in sets.items()}


def evaluate(
    model: DualEncoder, split: str = "test", sts_dir: Path | None = None
) -> dict[str, Any]:
    """Of each set, year and of all years: pearson and spearman times 100, ci95 over pairs, n pairs;
    of sets also n_unknown, sentences of which the model knows no word."""
    found, unknown = measure(model, split, sts_dir)
    intervals = bootstrap(found.metrics, len(found))
    result: dict[str, Any] = {}
    for name, values in found.metrics().items():
        result[name] = {**values, "ci95": intervals[name], "n": found.size(name)}
        if name in unknown:
            result[name]["n_unknown"] = unknown[name]
    return result
