"""Nodes of typed texts and photo files, and the items nearest to an embedding."""

from types import SimpleNamespace

import pytest
import torch

from tests.support.small_hierarchies import texts
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.hierarchy import nodes
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT, Hierarchy, Item
from vsdemo.hierarchy.walks import walk
from vsdemo.models.scores import SCORES
from vsdemo.search import hierarchies


@pytest.mark.parametrize("text", ["a dog", " A Dog. ", "a dog .", "a  dog"])
def test_a_typed_concept_is_its_item(engine, gallery, text):
    node = hierarchies.text_node(gallery, engine, text)
    assert (node.text, node.kind) == ("a dog", CONCEPT)
    assert gallery.items[node.number].text == "a dog"
    assert torch.equal(node.embedding, gallery.x[[node.number]])


def test_find_item_ignores_case_and_punctuation():
    caption = "A dog , brown and wet , runs ."
    items = [Item(ROOT, "anything"), Item(CAPTION, caption), Item(PHOTO, "A dog.jpg")]
    hierarchy = Hierarchy(items, torch.rand(3, 2), SCORES["order"])
    assert nodes.find_item(hierarchy, caption) == 1
    assert nodes.find_item(hierarchy, "a dog, brown and wet, runs") == 1
    assert nodes.find_item(hierarchy, "A dog, brown and wet, runs.") == 1
    assert nodes.find_item(hierarchy, "Anything") == 0
    assert nodes.find_item(hierarchy, "a dog") is None
    assert nodes.find_item(hierarchy, "A dog.jpg") is None
    assert nodes.find_item(hierarchy, "?!") is None


def test_any_sentence_and_any_photo_have_a_node(engine, gallery):
    node = hierarchies.text_node(gallery, engine, "a red dog on a blue ground")
    assert (node.kind, node.number) == (CAPTION, None)
    assert torch.equal(node.embedding, engine.encode("a red dog on a blue ground").x)
    photo = engine.gallery.photos[3]
    node = hierarchies.photo_node(engine, open_photo(photo), str(photo))
    assert (node.kind, node.number) == (PHOTO, None)
    assert torch.equal(node.embedding, engine.encode_photo(open_photo(photo)).x)
    path = walk(gallery, node)
    up, down = path.up, path.down
    assert gallery.items[up[0].number].kind == CAPTION
    assert gallery.items[down[-1].number].kind == PHOTO


def test_a_typed_text_never_opens_a_file(engine, gallery):
    """A visitor could otherwise ask for any picture of the server."""
    text = f"a dog {engine.gallery.photos[3]}"
    node = hierarchies.text_node(gallery, engine, text)
    assert (node.kind, node.text) == (CAPTION, text)
    assert torch.equal(node.embedding, engine.encode(text).x)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wug", "knows no word"),
        ("", "empty"),
        ("a\x00b", "control"),
        ("a " * 999, "limit is 1,000"),
    ],
)
def test_an_invalid_sentence_raises(engine, gallery, text, message):
    with pytest.raises(UserError, match=message):
        hierarchies.text_node(gallery, engine, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wug", "There is no concept 'wug'; try a simpler word"),
        ("pupy", "try puppy"),
        ("dog.n.07", "There is no sense 'dog.n.07'; choose one of dog"),
        ("", "There is no concept ''"),
    ],
)
def test_an_unknown_word_or_sense_raises(reader, concepts, text, message):
    with pytest.raises(UserError, match=message):
        hierarchies.text_node(concepts, reader, text)


def test_nearest_by_kind_excludes_nodes(reader, concepts):
    parts = [hierarchies.text_node(concepts, reader, name) for name in ("dog", "cat")]
    embedding = torch.cat([node.embedding for node in parts]).amin(0, keepdim=True)
    nearest = nodes.nearest_by_kind(concepts, embedding, parts, 3)
    assert set(nearest) == {CONCEPT}
    assert texts(concepts, nearest[CONCEPT])[0] == "animal"
    assert nearest[CONCEPT][0].violation == 0
    assert not {"dog", "cat"} & set(texts(concepts, nearest[CONCEPT]))
    assert len(nearest[CONCEPT]) == 3


def test_nearest_by_kind_returns_each_kind(gallery):
    nearest = nodes.nearest_by_kind(gallery, gallery.x[[1]], [], 2)
    assert list(nearest) == [CONCEPT, CAPTION, PHOTO]
    assert {len(steps) for steps in nearest.values()} == {2}
    assert texts(gallery, nearest[CONCEPT])[0] == "an animal"


def test_has_concepts_only_is_false_for_models_of_sentences(reader):
    text = SimpleNamespace(needs=frozenset({"words"}))
    assert not hierarchies.has_concepts_only(SimpleNamespace(model=SimpleNamespace(text=text)))
    assert hierarchies.has_concepts_only(reader)
