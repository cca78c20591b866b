import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders.image import LinearImage


def test_embeddings_are_sliced_and_concatenated_with_their_masks():
    x, mask = torch.arange(24.0).view(4, 3, 2), torch.arange(12).view(4, 3) % 2 == 0
    sets = Embeddings(x, mask)
    joined = Embeddings.cat([sets[:1], sets[torch.tensor([1, 2])], sets[3:]])
    assert len(sets) == 4
    assert torch.equal(joined.x, x)
    assert torch.equal(joined.mask, mask)
    assert Embeddings.cat([Embeddings(x[0]), Embeddings(x[1])]).mask is None


def test_sets_are_padded_and_placed_in_the_given_rows():
    small = Embeddings(torch.ones(2, 1, 2), torch.ones(2, 1).bool())
    large = Embeddings(torch.full((1, 3, 2), 2.0), torch.ones(1, 3).bool())
    joined = Embeddings.place(iter([small, large]), torch.tensor([2, 0, 1]))
    assert joined.x.sum((1, 2)).tolist() == [2, 12, 2]
    assert joined.mask.sum(1).tolist() == [1, 3, 1]


@torch.no_grad()
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of torch.export about itself
def test_an_exported_encoder_returns_embeddings():
    encoder = LinearImage(5, 3).eval()
    rows = torch.export.Dim("rows")
    exported = torch.export.export(encoder, (torch.rand(2, 5),), dynamic_shapes=({0: rows},))
    features = torch.rand(4, 5)
    result = exported.module()(features)
    assert isinstance(result, Embeddings)
    torch.testing.assert_close(result.x, encoder(features).x)
