"""Photos that an image network has learned from: no model over it may be tested on them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.vision import backbones

LEARNED_FROM = {  # network -> (data set, split) of photos that its recipe has seen
    "pocket": (("flickr8k", "train"), ("pascal1k", "train")),
    "finder": (("flickr8k", "train"),),
}


def check_unseen(backbone: str, dataset: str) -> None:
    """Refuse a data set whose held-out photos an image network has learned from.

    Args:
        backbone: Name of the network.
        dataset: Name of the data set, with the seed of its split.

    Raises:
        UserError: Photos of dev or test are among those that the network has learned from.
    """
    if datasets.is_generated(dataset):
        return
    sources = sorted(set(_sources(backbone)))
    if not sources:
        return
    seen = {path for name, split in sources for path in _photos(name, split)}
    for split in ("test", "dev"):
        held_out = _photos(dataset, split)
        if known := sum(path in seen for path in held_out):
            raise UserError(
                f"{backbone} has learned from {known} of the {len(held_out):,} photos of "
                f"{dataset}'s {split} split, so figures would be too good; choose another backbone "
                f"or a split that {backbone} has not seen, such as {_other(dataset, sources)}."
            )


def _sources(backbone: str) -> Iterator[tuple[str, str]]:
    """Yield the (data set, split) that a network, or one that it was trained over, has seen."""
    for network in backbones.chain_of(backbone):
        yield from LEARNED_FROM.get(network, ())
        if dataset := backbones.dataset_of(network):
            yield dataset, "train"


def _other(dataset: str, sources: Collection[tuple[str, str]]) -> str:
    """Return a data set whose train split the network has seen, if possible of the same photos."""
    base = datasets.base_name(dataset)
    return max(sources, key=lambda source: datasets.base_name(source[0]) == base)[0]


def _photos(dataset: str, split: str) -> list[Path]:
    """Return the photos of a split; none if they are not at hand."""
    with suppress(UserError):
        return list(datasets.photos(dataset, split))
    return []
