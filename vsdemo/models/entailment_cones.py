"""The order of entailment cones in hyperbolic space, for any model of that space."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.scores import Order


class Cones(Order):
    """How far the specific point lies inside the cone of the general one, an angle.

        score(x, y) = aperture(x) - angle(x, y)
        E(x, y) = max(0, angle(x, y) - aperture(x))          Ganea et al. 2018, Eq. 33

    `aperture` is the half aperture of the cone at x, whose axis points away from the root; `angle`
    is the angle at x between the axis and the direction of y. y lies inside where E is 0.
    Everything lies below the root, and x below itself: the angle is 0 there. Other neighbours of x
    may lie at any angle, so E is not continuous at x.

    Args:
        half_aperture: (..., D) -> (...), in 0..pi/2.
        exterior_angle: Two tensors (..., D), which broadcast -> (...), in 0..pi.
    """

    unit = "cone fit"
    meaning = (
        "How far inside the sentence's cone the photo lies, in radians. 0 or more means that the "
        "sentence lies above the photo in the hierarchy."
    )
    normalized = False

    def __init__(
        self,
        half_aperture: Callable[[Tensor], Tensor],
        exterior_angle: Callable[[Tensor, Tensor], Tensor],
    ) -> None:
        self.half_aperture, self.exterior_angle = half_aperture, exterior_angle

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        return self._fit(general.x[:, None], specific.x)

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        return self._fit(general.x, specific.x)

    def _fit(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the scores of points that broadcast."""
        return self.half_aperture(x) - self.exterior_angle(x, y)

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores, in -pi..pi/2, to 0..1 by a sigmoid."""
        return scores.sigmoid()
