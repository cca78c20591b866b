"""Searches of several visitors at the same moment."""

from concurrent.futures import ThreadPoolExecutor

import pytest

STARTS, SHAPES = ("a red", "one blue", "a"), ("circle", "square", "bar")


def check_concurrent_searches(engine, monkeypatch):
    """Check that they share batches, as on a GPU, and have the hits that they have alone."""
    sentences = [f"{start} {shape}" for start in STARTS for shape in SHAPES] * 4
    alone = [engine.search(sentence, 5) for sentence in sentences]
    sizes, encode_text = [], engine.model.encode_text
    monkeypatch.setattr(engine, "_shares_batches", True)

    def count(texts, *args):
        sizes.append(len(texts))
        return encode_text(texts, *args)

    monkeypatch.setattr(engine.model, "encode_text", count)
    with ThreadPoolExecutor(16) as pool:
        together = [*pool.map(lambda sentence: engine.search(sentence, 5), sentences)]
    assert sum(sizes) == len(sentences)
    assert len(sizes) < len(sentences)
    for one, other in zip(alone, together, strict=True):
        assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-5)
