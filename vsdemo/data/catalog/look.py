"""The look of a photo: 64 bits, few of which change when it is re-encoded, resized or trimmed.

Each bit is the sign of one of the 64 lowest frequencies, without the mean, in the discrete cosine
transform of the photo in 32 x 32 greys (a perceptual hash).
"""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
from PIL import Image

SIDE, BITS = 32, 64
FLAT = 0  # the look of a photo in one colour, which matches no other
_NUMBERS = np.arange(SIDE)
COSINES = np.cos(np.pi * _NUMBERS[:, None] * (2 * _NUMBERS + 1) / (2 * SIDE))  # (SIDE, SIDE)
# Rows and columns of frequencies, the lowest first.
LOWEST: npt.NDArray[np.int64] = np.array(
    sorted(np.ndindex(SIDE, SIDE), key=lambda place: (sum(place), place))[1 : BITS + 1]
).T


def look_of(thumbnail: bytes) -> int:
    """Return the look of a photo, as a signed integer of 64 bits.

    Args:
        thumbnail: The JPEG that is stored with it.
    """
    with Image.open(io.BytesIO(thumbnail), formats=("JPEG",)) as image:
        image.draft("L", (SIDE, SIDE))  # decodes it in grey and small
        small = image.convert("L").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    grey = np.asarray(small, dtype=np.float64)
    if not np.ptp(grey):
        return FLAT
    frequencies = COSINES @ grey @ COSINES.T
    bits = np.packbits(frequencies[*LOWEST] > 0)
    return int(bits.view(np.int64)[0])
