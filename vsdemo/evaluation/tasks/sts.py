"""Sentence similarity (Merckx & Frank 2019, sections 3.4 and 4.2, Table 5 and Figure 3).

Correlation of the text encoder's similarities with human scores. STS 2012-2016 and any other
year: the cosine of both embeddings. `STS-B` and `SICK-R`: a small classifier on them
(`metrics.relatedness`), trained on their train split, its strength chosen on dev; `STS-B.cosine`
and `SICK-R.cosine`: the plain cosine. A set of fragments is represented by its mean.

A set with sentences that the model has read in its training (`vsdemo.data.pairs.contamination`) is
also measured without these pairs, as `STS-B.clean`; the classifier is the same.

The means over a year's subsets, and over all subsets of all years (`STS`), are our own: Table 5 has
only the subsets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.data.pairs import sts
from vsdemo.data.pairs.contamination import CLEAN, clean_places
from vsdemo.data.pairs.sts import ScoredPair
from vsdemo.evaluation.metrics import bootstrap
from vsdemo.evaluation.metrics.correlation import Correlations, correlation
from vsdemo.evaluation.metrics.relatedness import pair_features, predict_best
from vsdemo.evaluation.task import PairedTask, Result, SentenceData
from vsdemo.evaluation.text_embeddings import TextEmbeddings, pooled, similarity
from vsdemo.models.dual_encoder import DualEncoder

# name -> (what reads a split, the whole numbers of its scale)
TRAINED: dict[str, tuple[Callable[[str], Sequence[ScoredPair]], range]] = {
    "STS-B": (sts.benchmark, range(sts.MIN_SCORE, sts.MAX_SCORE + 1)),
    "SICK-R": (sts.relatedness, range(1, 6)),
}
SPLITS = ("dev", "test")
SHOWN = ("STS-B", "SICK-R", "STS12", "STS13", "STS14", "STS15", "STS16", "STS")


def texts_of(pairs: Iterable[ScoredPair]) -> list[str]:
    """Return both sentences of each pair."""
    return [text for pair in pairs for text in (pair.a, pair.b)]


def embeddings_of(texts: TextEmbeddings, pairs: Sequence[ScoredPair]) -> tuple[Tensor, Tensor]:
    """Return the embeddings of the first and of the second sentences, (N, D) each."""
    first = pooled(texts.of([pair.a for pair in pairs]), texts.score)
    second = pooled(texts.of([pair.b for pair in pairs]), texts.score)
    return first, second


def gold(pairs: Sequence[ScoredPair]) -> Tensor:
    """Return the human scores, (N,)."""
    return torch.tensor([pair.score for pair in pairs])


def _agreement(predicted: Tensor, scores: Tensor) -> float:
    return correlation(predicted.double().numpy(), scores.double().numpy())


def _cosines(texts: TextEmbeddings, pairs: Sequence[ScoredPair]) -> Tensor:
    first = texts.of([pair.a for pair in pairs])
    return similarity(first, texts.of([pair.b for pair in pairs]), texts.score)


def predict(texts: TextEmbeddings, name: str, split: str) -> Tensor:
    """Return the classifier's scores for the pairs of a split of one of TRAINED, (N,)."""
    load, scale = TRAINED[name]

    def features(pairs: Sequence[ScoredPair]) -> Tensor:
        first, second = embeddings_of(texts, pairs)
        return pair_features(first, second)

    train, dev = load("train"), load("dev")
    return predict_best(
        train=(features(train), gold(train)),
        dev=(features(dev), gold(dev)),
        features=features(load(split)),
        scale=scale,
        agreement=_agreement,
    )


def has_dev_data() -> bool:
    """Return whether the data of `on_dev` are available."""
    try:
        return all(load("dev") for load, _ in TRAINED.values())
    except UserError:
        return False


def on_dev(model: DualEncoder) -> dict[str, float]:
    """Return Pearson's r times 100 of the cosine on dev of STS-B and SICK-R, and their `mean`.

    Nothing is trained, and no test pair is used.

    Raises:
        UserError: Data are missing.
    """
    sets = {name: load("dev") for name, (load, _) in TRAINED.items()}
    texts = TextEmbeddings(model, texts_of(pair for pairs in sets.values() for pair in pairs))
    result = {
        name: 100 * _agreement(_cosines(texts, pairs), gold(pairs)) for name, pairs in sets.items()
    }
    return {**result, "mean": sum(result.values()) / len(result)}


@dataclass(frozen=True)
class SentenceSimilarity(PairedTask):
    """Correlation of similarities with human scores.

    Args:
        sts_dir: Folder with more years, see `data.pairs.sts.load_years`.
    """

    name: ClassVar[str] = "sts"
    needs: ClassVar[frozenset[str]] = frozenset({"sentences", "seen"})
    primary: ClassVar[str] = "STS-B"
    options: ClassVar[frozenset[str]] = frozenset({"sts_dir"})
    columns: ClassVar[tuple[str, ...]] = tuple(f"{name} pearson" for name in SHOWN)
    sts_dir: Path | None = None

    def measure(self, model: DualEncoder, data: SentenceData) -> Correlations:
        """Return the correlations.

        On dev only STS-B and SICK-R are measured; the other sets are for tests alone.

        Raises:
            UserError: The split is neither dev nor test, or data are missing or damaged.
        """
        correlations, _ = self._measure(model, data)
        return correlations

    def _measure(
        self, model: DualEncoder, data: SentenceData
    ) -> tuple[Correlations, dict[str, int]]:
        """Return the correlations, and the number of sentences of each set with no known word."""
        split = data.split
        if split not in SPLITS:
            raise UserError(f"Sentence similarity is measured on dev or test, not on {split}.")
        years = sts.load_years(self.sts_dir) if split == "test" else {}
        trained = [load(part) for load, _ in TRAINED.values() for part in ("train", "dev", "test")]
        texts = TextEmbeddings(
            model, texts_of(pair for pairs in (*years.values(), *trained) for pair in pairs)
        )
        sets: dict[str, Sequence[ScoredPair]] = {}
        predicted: dict[str, Tensor] = {}
        for name, (load, _) in TRAINED.items():
            sets[name] = sets[f"{name}.cosine"] = load(split)
            predicted[name] = predict(texts, name, split)
        sets |= years
        for name, pairs in sets.items():
            if name not in predicted:
                predicted[name] = _cosines(texts, pairs)
        for name, pairs in list(sets.items()):
            if clean := clean_places([(pair.a, pair.b) for pair in pairs], data.seen):
                sets[name + CLEAN] = [pairs[place] for place in clean]
                predicted[name + CLEAN] = predicted[name][clean]
        correlations = Correlations.of(
            predicted={name: predicted[name].double().numpy() for name in sets},
            gold={name: gold(pairs).double().numpy() for name, pairs in sets.items()},
            groups=_groups(years),
        )
        unknown = {name: texts.count_unknown(texts_of(pairs)) for name, pairs in sets.items()}
        return correlations, unknown

    def evaluate(self, model: DualEncoder, data: SentenceData) -> Result:
        """Return pearson and spearman times 100 of each set, year and all years.

        Each also has ci95 over pairs and the number of pairs n; sets also have n_unknown, the
        number of sentences in which the model knows no word.
        """
        correlations, unknown = self._measure(model, data)
        ci95 = bootstrap.intervals(correlations.metrics, len(correlations))
        result: Result = {}
        for name, metrics in correlations.metrics().items():
            result[name] = {**metrics, "ci95": ci95[name], "n": correlations.size(name)}
            if name in unknown:
                result[name]["n_unknown"] = unknown[name]
        return result


def _groups(years: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the subsets of each year, such as "STS12.MSRpar" of "STS12", and of all years."""
    subsets = tuple(years)
    names = dict.fromkeys(name.split(".")[0] for name in subsets)
    groups = {year: tuple(n for n in subsets if n.split(".")[0] == year) for year in names}
    return groups | ({sts.ALL: subsets} if subsets else {})
