"""Alignment of words and regions by a model trained on `toy`."""

import dataclasses

import pytest
import torch

from tests.conftest import TOY_SETTINGS
from tests.support.concurrent_searches import check_concurrent_searches
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
    """The preset `fragments`, briefly trained on `toy`."""
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


def test_concurrent_searches_of_sets_have_the_same_hits(engine, monkeypatch):
    check_concurrent_searches(engine, monkeypatch)


def test_an_alignment_adds_up_to_the_score(engine):
    alignment = engine.align_photo(3, TEXT)
    hits = {hit.number: hit.score for hit in engine.search(TEXT, 40)}
    assert alignment.words == tuple(TEXT.split())
    assert len(alignment.fragments) == len(alignment.scores) == len(alignment.parts) >= 2
    assert alignment.total == pytest.approx(hits[3], rel=1e-4)
    assert sum(alignment.parts) == pytest.approx(alignment.total, rel=1e-4)
    assert len(alignment.boxes) == REGIONS["windows"].vectors
    assert {len(row) for row in alignment.scores} == {len(alignment.boxes)}
    assert alignment.boxes[-1] == (0, 0, 1, 1)


def test_an_alignment_equals_the_scores_of_the_model(engine):
    alignment = engine.align_photo(3, TEXT)
    rows = engine.score.align_parts(engine.encode(TEXT), engine.photos.embeddings[[3]])[:, 0]
    torch.testing.assert_close(torch.tensor(alignment.scores), rows)


def test_a_photo_in_memory_aligns_like_its_copy_in_the_gallery(engine, folder):
    stored = engine.align_photo(3, TEXT)
    alignment = Reader(folder).align(open_photo(engine.gallery.photos[3]), TEXT)
    assert alignment.fragments == stored.fragments
    torch.testing.assert_close(
        torch.tensor(alignment.scores), torch.tensor(stored.scores), atol=0.02, rtol=0.02
    )


def test_one_word_is_one_fragment(engine):
    alignment = engine.align_photo(0, "circle")
    assert [f.words for f in alignment.fragments] == [(0, 0)]
    assert alignment.fragments[0].relation == "root"


def test_words_that_the_model_does_not_know_are_named(engine):
    alignment = engine.align_photo(3, "a Wug red circle")
    assert [alignment.words[i] for i in alignment.unknown] == ["Wug"]
    assert alignment.fragment_of_word(1) is None
    assert engine.align_photo(3, TEXT).unknown == ()


def test_regions_of_a_phrase_are_ranked_hits(engine):
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


def test_regions_with_equal_scores_keep_the_order_of_the_gallery(engine, monkeypatch):
    same = engine.photos.embeddings[torch.zeros(len(engine.photos.items), dtype=torch.long)]
    monkeypatch.setattr(engine, "photos", dataclasses.replace(engine.photos, embeddings=same))
    hits = engine.regions(TEXT, 40)
    assert len({hit.score for hit in hits}) < 10  # those that rounding leaves equal
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.number))
    assert sorted(hit.number for hit in hits) == list(range(40))
    assert len(engine.regions(TEXT)) == 10


@pytest.mark.parametrize("text", ["", "qwrtz", "🙈"])
def test_a_sentence_without_known_words_is_a_user_error(engine, text):
    for call in (lambda: engine.align_photo(0, text), lambda: engine.regions(text)):
        with pytest.raises(UserError, match=r"empty|knows no word"):
            call()


def test_a_model_of_whole_sentences_cannot_align_parts(toy_checkpoint):
    engine = Engine(toy_checkpoint)
    photo = open_photo(engine.gallery.photos[0])
    calls = (
        lambda: engine.align_photo(0, TEXT),
        lambda: engine.regions(TEXT),
        lambda: engine.align(photo, TEXT),
    )
    for call in calls:
        with pytest.raises(UserError, match="gru has one embedding for a whole sentence"):
            call()
    assert not engine.can_align
