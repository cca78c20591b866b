import pytest
import torch
from stanza.models.common import biaffine, hlstm
from torch.nn.utils.rnn import pack_sequence

from vsdemo.recipes.parsing import quick


@pytest.fixture
def patched(monkeypatch):
    monkeypatch.setattr(quick, "device", lambda: torch.device("cpu"))
    with quick.applied():
        yield


def test_mixed_precision_layers_are_close_and_return_float32():
    torch.manual_seed(0)
    lstm = hlstm.HighwayLSTM(6, 4, num_layers=2, batch_first=True, bidirectional=True)
    scorer = biaffine.DeepBiaffineScorer(8, 8, 5, 3)
    torch.nn.init.normal_(scorer.scorer.W_bilin.weight)
    packed = pack_sequence([torch.randn(3, 6), torch.randn(2, 6)])
    pair = torch.randn(2, 3, 8), torch.randn(2, 3, 8)
    plain, plain_scores = lstm(packed, [3, 2])[0].data, scorer(*pair)
    with quick.applied():
        mixed, mixed_scores = lstm(packed, [3, 2])[0].data, scorer(*pair)
    assert mixed.dtype == mixed_scores.dtype == torch.float32
    assert torch.allclose(mixed, plain, atol=0.03)
    assert torch.allclose(mixed_scores, plain_scores, atol=0.1, rtol=0.05)
    assert torch.equal(lstm(packed, [3, 2])[0].data, plain)


@pytest.mark.usefixtures("patched")
@pytest.mark.parametrize("p", [0.25, 0.5])
def test_dropout_keeps_the_mean(p):
    dropped = torch.nn.Dropout(p)(torch.ones(400, 500))
    assert (dropped == 0).float().mean().item() == pytest.approx(p, abs=0.01)
    assert dropped.mean().item() == pytest.approx(1, abs=0.02)
    assert torch.nn.Dropout(p).eval()(torch.ones(3)).tolist() == [1, 1, 1]


def test_weights_are_averaged_while_stanza_trains(monkeypatch):
    class Model:
        weight = torch.zeros(1)

        def get_params(self, skip_modules):
            return {"w": self.weight}

    class Trainer:
        model = Model()

        def update(self, step):
            self.model.weight += step
            return "loss"

    monkeypatch.setattr(quick, "Trainer", Trainer)
    plain = Trainer.update
    with quick.averaging(decay=0.5) as average:
        assert [Trainer().update(step) for step in (2, 2)] == ["loss", "loss"]
    assert average["w"].tolist() == [0.5 * 2 + 0.5 * 4]
    assert Trainer.update is plain
