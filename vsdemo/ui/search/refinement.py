"""What narrows down a search besides its sentence and photo: conditions, order, groups, weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from vsdemo.data.catalog.filters import PhotoFilter, PhotoOrder

ORDER, COPIES, WEIGHT = "order", "copies", "weight"  # in addresses


@dataclass(frozen=True)
class Refinement:
    """What narrows a search down.

    Attributes:
        conditions: Conditions on the photos.
        order: Which photos come first.
        groups_copies: Show only one of several nearly identical photos.
        photo_weight: How much the photo of the query counts compared with its sentence.
        within: Numbers of the photos that are searched, such as a region of the map; None for all.
        label: Name of a label that the photos should have; empty for none.
        is_unsure: Show the photos for which it is least certain whether they have the label.
    """

    conditions: PhotoFilter = field(default_factory=PhotoFilter)
    order: PhotoOrder = PhotoOrder.FIT
    groups_copies: bool = False
    photo_weight: float = 1.0
    within: tuple[int, ...] | None = None
    label: str = ""
    is_unsure: bool = False

    @property
    def narrows(self) -> bool:
        """Whether it changes which photos are shown without a query, or their order."""
        has_order = self.order is not PhotoOrder.FIT
        return not self.conditions.is_empty or has_order or self.is_private

    @property
    def is_private(self) -> bool:
        """Whether it depends on what only this page or machine knows: a region, or a label."""
        return self.within is not None or bool(self.label)

    @property
    def address(self) -> dict[str, str]:
        """The parts of the page's address; default values are left out."""
        default = Refinement()
        values = self.conditions.model_dump(mode="json", exclude_defaults=True)
        result = {name: str(value) for name, value in values.items()}
        if self.order is not default.order:
            result[ORDER] = self.order
        if self.groups_copies:
            result[COPIES] = "1"
        if self.photo_weight != default.photo_weight:
            result[WEIGHT] = f"{self.photo_weight:g}"
        return result

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a request to the API; default values are left out."""
        default = Refinement()
        conditions = self.conditions.model_dump(mode="json", exclude_defaults=True)
        result: dict[str, Any] = {"conditions": conditions} if conditions else {}
        if self.order is not default.order:
            result["order"] = str(self.order)
        if self.groups_copies:
            result["groups_copies"] = True
        if self.photo_weight != default.photo_weight:
            result["photo_weight"] = self.photo_weight
        return result

    @classmethod
    def from_address(cls, value: Callable[[str], str | None]) -> Refinement:
        """Return what an address says, with defaults for values that are not valid.

        Args:
            value: Returns a part of the address by its name.
        """
        result: dict[str, Any] = {}
        with suppress(ValueError):
            result["order"] = PhotoOrder(value(ORDER) or "")
        with suppress(ValueError):
            result["photo_weight"] = min(max(float(value(WEIGHT) or ""), 0.1), 3.0)
        names = {name: text for name in PhotoFilter.model_fields if (text := value(name))}
        return cls(conditions=to_filter(names), groups_copies=value(COPIES) == "1", **result)


def to_filter(values: Mapping[str, Any]) -> PhotoFilter:
    """Return conditions; those that are not valid, such as half a date, are left out."""
    valid = {}
    for name, value in values.items():
        with suppress(ValidationError):
            PhotoFilter.model_validate({name: value})
            valid[name] = value
    return PhotoFilter.model_validate(valid)
