"""Which words speak of which region: what the front ends call, over a model trained on `toy`."""

import pytest
import torch

from tests.conftest import TOY_SETTINGS
from tests.support.fake_parser import FakeParser
from tests.support.small_runs import preset_trainer
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.data.text import parser
from vsdemo.search.engine import Engine, Reader
from vsdemo.vision.crops import REGIONS

TEXT = "a red circle on a blue ground"


@pytest.fixture(scope="module")
def folder(own_folders, tmp_path_factory):
    """The preset `fragments`, trained on `toy` for a moment."""
    out = tmp_path_factory.mktemp("runs") / "fragments"
    settings = [s for s in TOY_SETTINGS if not s.startswith(("crops", "epochs"))]
    settings += ["vectors=learned", "epochs=4", "margin=0.2"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "load", lambda name="shipped": FakeParser())
        preset_trainer(out, "fragments", *settings).run()
    return out


@pytest.fixture
def engine(folder, fake_parser):
    return Engine(folder)


def test_an_alignment_adds_up_to_the_score(engine):
    found = engine.align_photo(3, TEXT)
    hits = {hit.number: hit.score for hit in engine.search(TEXT, 40)}
    assert found.words == tuple(TEXT.split())
    assert len(found.fragments) == len(found.scores) == len(found.parts) >= 2
    assert found.total == pytest.approx(hits[3], rel=1e-4)
    assert sum(found.parts) == pytest.approx(found.total, rel=1e-4)
    assert len(found.boxes) == REGIONS["windows"].vectors
    assert {len(row) for row in found.scores} == {len(found.boxes)}
    assert found.boxes[-1] == (0, 0, 1, 1)


def test_it_is_the_matrix_of_the_loss(engine):
    found = engine.align_photo(3, TEXT)
    rows = engine.score.align_parts(engine.encode(TEXT), engine.photos.embeddings[[3]])[:, 0]
    torch.testing.assert_close(torch.tensor(found.scores), rows)


def test_a_photo_in_memory_aligns_as_the_same_of_the_gallery(engine, folder):
    stored = engine.align_photo(3, TEXT)
    found = Reader(folder).align(open_photo(engine.gallery.photos[3]), TEXT)
    assert found.fragments == stored.fragments
    torch.testing.assert_close(
        torch.tensor(found.scores), torch.tensor(stored.scores), atol=0.02, rtol=0.02
    )


def test_one_word(engine):
    found = engine.align_photo(0, "circle")
    assert [f.words for f in found.fragments] == [(0, 0)]
    assert found.fragments[0].relation == "root"


def test_regions_of_a_phrase(engine):
    hits = engine.regions("red circle", 8)
    assert [h.rank for h in hits] == list(range(1, 9))
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert len({h.number for h in hits}) == 8
    for hit in hits[:3]:
        rows = torch.tensor(engine.align_photo(hit.number, "red circle").scores).mean(0)
        assert hit.score == pytest.approx(float(rows.max()), rel=1e-3)
        box = engine.align_photo(hit.number, "red circle").boxes[int(rows.argmax())]
        assert hit.box == pytest.approx(box, abs=1e-3)
        assert hit.item == engine.gallery.photos[hit.number].name


@pytest.mark.parametrize("text", ["", "qwrtz", "🙈"])
def test_a_sentence_of_which_nothing_is_known(engine, text):
    for ask in (lambda: engine.align_photo(0, text), lambda: engine.regions(text)):
        with pytest.raises(UserError, match=r"empty|knows no word"):
            ask()


def test_a_model_of_whole_sentences_cannot_align(toy_checkpoint):
    engine = Engine(toy_checkpoint)
    photo = open_photo(engine.gallery.photos[0])
    asks = (
        lambda: engine.align_photo(0, TEXT),
        lambda: engine.regions(TEXT),
        lambda: engine.align(photo, TEXT),
    )
    for ask in asks:
        with pytest.raises(UserError, match="gru has one embedding for a whole sentence"):
            ask()
    assert not engine.can_align
