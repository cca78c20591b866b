"""A task as another package would add it: one class, named in the registry."""

from dataclasses import dataclass
from typing import ClassVar

from vsdemo.evaluation.task import PhotoData, Task


@dataclass(frozen=True)
class CountPhotos(Task):
    """Counts the photos of a split, a few times."""

    name: ClassVar[str] = "count"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = "photos"
    options: ClassVar[frozenset[str]] = frozenset({"times"})
    times: int = 1

    def evaluate(self, model, data: PhotoData):
        return {"photos": float(self.times * len(data.features)), "n": len(data.features)}
