"""A replacement for onnxruntime with YOLOX whose network is a function."""

import math
from types import SimpleNamespace

import numpy as np

PLACES = 52**2 + 26**2 + 13**2  # cells of YOLOX's three maps
CLASSES = 80


def fake_onnxruntime(network, shape=(1, PLACES, 5 + CLASSES)) -> SimpleNamespace:
    """Return a module whose session calls `network` on pixels (1, 3, 416, 416).

    The session declares an output of this shape.
    """

    def session(path, options, providers) -> SimpleNamespace:
        return SimpleNamespace(
            options=options,
            get_inputs=lambda: [SimpleNamespace(name="images", shape=[1, 3, 416, 416])],
            get_outputs=lambda: [SimpleNamespace(name="output", shape=list(shape))],
            run=lambda names, feed: [network(feed["images"])[None]],
        )

    return SimpleNamespace(SessionOptions=SimpleNamespace, InferenceSession=session)


def output_for(*boxes: tuple[float, float, float, float, float]) -> np.ndarray:
    """Return YOLOX's output for boxes (x0, y0, x1, y1, score) in pixels.

    Each box has its own cell in the map with the finest stride.
    """
    raw = np.zeros((PLACES, 5 + CLASSES), np.float32)
    for i, (x0, y0, x1, y1, score) in enumerate(boxes):
        row, column = i // 52, i % 52
        raw[i, :2] = (x0 + x1) / 16 - column, (y0 + y1) / 16 - row
        raw[i, 2:4] = math.log((x1 - x0) / 8), math.log((y1 - y0) / 8)
        raw[i, 4], raw[i, 5 + i % CLASSES] = math.sqrt(score), math.sqrt(score)
    return raw
