"""A check of recurrent encoders in the precision of autocast."""

import torch


@torch.no_grad()
def assert_half_precision_stays_close(encoder, sentences, embed, monkeypatch):
    """Check that the vectors in bfloat16 are near those in full precision, but not the same."""
    monkeypatch.setattr("vsdemo.encoders.recurrent.fast_dtype", lambda: torch.bfloat16)
    full = embed(encoder, sentences)
    with torch.autocast("cpu", torch.bfloat16):
        half = embed(encoder, sentences)
    assert half.dtype == torch.float32
    assert not torch.equal(half, full)
    assert (half * full).sum(1).min() > 0.999
