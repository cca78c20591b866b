"""Hierarchies of tiny models."""

from itertools import pairwise

import pytest
import torch

from tests.support import small_orders
from tests.support.small_hierarchies import texts
from tests.support.small_runs import trainer
from vsdemo.core.errors import UserError
from vsdemo.data.relations import common_sentences
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT, ROOT_TEXT
from vsdemo.hierarchy.walks import truths, walk
from vsdemo.models.limits import NO_LIMITS
from vsdemo.search import hierarchies
from vsdemo.search.engine import Engine
from vsdemo.search.hierarchies import text_node


def test_a_hierarchy_of_concepts_follows_their_order(reader, concepts):
    names, _ = small_orders.truth()
    assert [item.text for item in concepts.items] == list(names)
    assert [i.text for i in concepts.items if i.kind == ROOT] == ["entity"]
    assert concepts.limits == reader.model.limits
    path = walk(concepts, text_node(concepts, reader, "Puppy"))
    up, down = path.up, path.down
    assert texts(concepts, up) == ["dog", "animal", "living thing", "entity"]
    assert [step.violation for step in up] == [0, 0, 0, 0]
    assert texts(concepts, down) == []
    path = walk(concepts, text_node(concepts, reader, "entity"))
    assert path.up == ()
    assert texts(concepts, path.down)[0] in ("living thing", "vehicle")


def test_steps_between_concepts_are_true_by_their_taxonomy(reader, concepts, tmp_path):
    nodes = [text_node(concepts, reader, word) for word in ("puppy", "dog", "vehicle", "entity")]
    assert truths(concepts, nodes, up=True) == [True, False, True]
    assert hierarchies.truth_of_concepts(str(tmp_path / "gone.tsv")) is None


def test_a_hierarchy_of_a_gallery_contains_all_kinds(engine, gallery):
    by_kind = {k: [i.text for i in gallery.items if i.kind == k] for k in gallery.of_kind}
    assert by_kind[ROOT] == [ROOT_TEXT]
    assert not gallery.x[0].any()
    assert by_kind[CONCEPT] == list(small_orders.PHRASES)
    shared = [text for text in common_sentences.sentences() if not engine.unknown_words(text)]
    shared = [text for text in shared if text not in small_orders.PHRASES]
    assert shared
    assert by_kind[CAPTION] == [*shared, *dict.fromkeys(engine.gallery.captions)]
    assert by_kind[PHOTO] == [path.name for path in engine.gallery.photos]
    photos = [item.number for item in gallery.items if item.kind == PHOTO]
    assert photos == list(range(40))
    assert gallery.limits == NO_LIMITS
    assert torch.allclose(gallery.x[1], engine.encode("an animal").x[0], atol=1e-5)


@pytest.mark.parametrize("max_captions", [1, 7, 50])
def test_captions_are_thinned_evenly(engine, max_captions):
    captions = list(dict.fromkeys(engine.gallery.captions))
    hierarchy = hierarchies.from_gallery(engine, max_captions=max_captions)
    kept = [captions.index(item.text) for item in hierarchy.items if item.text in captions]
    assert len(kept) <= max_captions
    assert len({b - a for a, b in pairwise(kept)}) <= 1
    assert len(kept) > max_captions / 2


def test_a_gallery_without_captions_gets_the_caption_bank(toy_order, toy_root):
    engine = Engine(toy_order, str(toy_root / "toy" / "images"))
    hierarchy = hierarchies.from_gallery(engine, max_captions=20)
    captions = {item.text for item in hierarchy.items if item.kind == CAPTION}
    assert 10 < len(captions - set(common_sentences.sentences())) <= 20
    assert int(hierarchy.of_kind[PHOTO].sum()) == 40


def test_a_model_without_known_concepts_has_captions_and_photos(tmp_path):
    trainer(tmp_path / "order", "epochs=1", preset="order").run()
    engine = Engine(tmp_path / "order")
    hierarchy = hierarchies.from_gallery(engine)
    assert not hierarchy.of_kind[CONCEPT].any()
    down = walk(hierarchy, text_node(hierarchy, engine, "one red circle")).down
    shared = [text for text in common_sentences.sentences() if not engine.unknown_words(text)]
    assert len(hierarchy) == 1 + len(shared) + len(set(engine.gallery.captions)) + 40
    assert hierarchy.items[down[-1].number].kind == PHOTO


def test_a_model_without_an_order_raises(toy_checkpoint):
    with pytest.raises(UserError, match="gru has a score without an order"):
        hierarchies.build_hierarchy(Engine(toy_checkpoint))
