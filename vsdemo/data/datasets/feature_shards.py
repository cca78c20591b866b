"""Features and captions in tar files, as `python -m vsdemo data shards` writes them.

The photos themselves are elsewhere: such a data set is for training and measuring.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.stored_features import ABOUT, About, StoredFeatures
from vsdemo.data.datasets.base import Dataset, Report


class FeatureShards(Dataset):
    """The data set in a folder."""

    has_photos: ClassVar[bool] = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Return whether a folder has this format."""
        return (folder / ABOUT).is_file()

    def read(self, split: str) -> CaptionSet:
        """Return a split, without reading its features.

        Raises:
            UserError: There is no such split, or a file is missing or damaged.
        """
        known = About.read(self.folder).files
        splits = [name for name in known if split in (name, "all")]
        if not splits:
            raise UserError(f"{self.folder} has no split {split!r}, but {', '.join(known)}.")
        features, records = StoredFeatures.open(self.folder, splits)
        return CaptionSet(
            str(self.folder),
            split,
            photos=tuple(self.folder / Path(record.photo).name for record in records),
            captions=tuple(text for record in records for text in record.captions),
            photo_of=tuple(i for i, record in enumerate(records) for _ in record.captions),
            keys=tuple(record.key for record in records),
            features=features,
        )

    def check(self) -> Report:
        """Read all features; return what there is, and damaged files."""
        about = About.read(self.folder)
        facts = [f"features of {about.dataset} by {about.backbone} ({about.crops})"]
        problems = []
        for split in about.files:
            try:
                captions = self.read(split)
                assert captions.features is not None
                for numbers in captions.features.parts():
                    captions.features[numbers]
                facts.append(
                    f"{split}: {len(captions.photos):,} photos, {len(captions.captions):,} captions"
                )
            except UserError as error:
                problems.append(str(error))
        return Report(facts, problems)
