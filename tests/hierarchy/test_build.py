"""What can be walked: worlds of tiny models, places typed or of a file, arrows and maps."""

from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.support import small_orders
from tests.support.small_runs import trainer
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.hierarchy import build
from vsdemo.hierarchy.space import CAPTION, CONCEPT, PHOTO, ROOT, Item, World
from vsdemo.models.scores import SCORES
from vsdemo.search.engine import Engine, Reader

QUARTERS = st.integers(0, 4).map(lambda n: n / 4)


@pytest.fixture(scope="module")
def reader(toy_concepts):
    return Reader(toy_concepts)


@pytest.fixture(scope="module")
def engine(toy_order):
    return Engine(toy_order)


@pytest.fixture(scope="module")
def concepts(reader):
    return build.opened(reader)


@pytest.fixture(scope="module")
def gallery(engine):
    return build.opened(engine)


def texts(world, steps):
    return [world.items[step.number].text for step in steps]


def violation(x, y) -> float:
    return sum(max(0, a - b) ** 2 for a, b in zip(x, y, strict=True))


def of(points, kind=CONCEPT):
    return World([Item(kind, str(i)) for i in range(len(points))], points, SCORES["order"])


def test_concepts_are_walked_as_they_were_put(reader, concepts):
    names, _ = small_orders.truth()
    assert [item.text for item in concepts.items] == list(names)
    assert [i.text for i in concepts.items if i.kind == ROOT] == ["entity"]
    assert concepts.limit == reader.spec.config.margin
    up, down = build.walk(concepts, build.place(concepts, reader, "Puppy"))
    assert texts(concepts, up) == ["dog", "animal", "living thing", "entity"]
    assert [step.violation for step in up] == [0, 0, 0, 0]
    assert texts(concepts, down) == []  # nothing lies below a puppy
    up, down = build.walk(concepts, build.place(concepts, reader, "entity"))
    assert up == []
    assert texts(concepts, down)[0] in ("living thing", "vehicle")


def test_a_gallery_has_a_root_known_concepts_captions_and_photos(engine, gallery):
    by_kind = {k: [i.text for i in gallery.items if i.kind == k] for k in gallery.of_kind}
    assert by_kind[ROOT] == [build.ANYTHING]
    assert not gallery.x[0].any()
    assert by_kind[CONCEPT] == list(small_orders.PHRASES)
    assert by_kind[CAPTION] == list(dict.fromkeys(engine.gallery.captions))
    assert by_kind[PHOTO] == [path.name for path in engine.gallery.photos]
    photos = [item.number for item in gallery.items if item.kind == PHOTO]
    assert photos == list(range(40))
    assert gallery.limit == float("inf")
    assert torch.allclose(gallery.x[1], engine.encode("an animal").x[0], atol=1e-5)


@pytest.mark.parametrize("most", [1, 7, 50])
def test_many_captions_are_thinned_evenly(engine, most):
    every = list(dict.fromkeys(engine.gallery.captions))
    world = build.of_gallery(engine, captions=most)
    kept = [every.index(item.text) for item in world.items if item.kind == CAPTION]
    assert len(kept) <= most
    assert len({b - a for a, b in pairwise(kept)}) <= 1
    assert len(kept) > most / 2


def test_a_gallery_without_captions_has_our_own_sentences(toy_order, toy_root):
    world = build.of_gallery(Engine(toy_order, str(toy_root / "toy" / "images")), captions=20)
    assert 10 < int(world.of_kind[CAPTION].sum()) <= 20
    assert int(world.of_kind[PHOTO].sum()) == 40


def test_a_model_that_knows_no_concept_has_a_world_too(tmp_path):
    trainer(tmp_path / "order", "epochs=1", preset="order").run()
    engine = Engine(tmp_path / "order")
    world = build.of_gallery(engine)
    assert not world.of_kind[CONCEPT].any()
    _, down = build.walk(world, build.place(world, engine, "one red circle"))
    assert len(world) == 1 + len(set(engine.gallery.captions)) + 40
    assert world.items[down[-1].number].kind == PHOTO


def test_a_model_without_an_order_is_told(toy_checkpoint):
    with pytest.raises(UserError, match="gru has a score without an order"):
        build.opened(Engine(toy_checkpoint))


@pytest.mark.parametrize("typed", ["a dog", " A Dog. ", "a dog .", "a  dog"])
def test_a_typed_concept_is_the_item(engine, gallery, typed):
    place = build.place(gallery, engine, typed)
    assert (place.text, place.kind) == ("a dog", CONCEPT)
    assert gallery.items[place.number].text == "a dog"
    assert torch.equal(place.point, gallery.x[[place.number]])


def test_captions_are_found_as_data_sets_write_them_and_as_pages_show_them():
    written = "A dog , brown and wet , runs ."
    items = [Item(ROOT, "anything"), Item(CAPTION, written), Item(PHOTO, "A dog.jpg")]
    world = World(items, torch.rand(3, 2), SCORES["order"])
    assert build.find(world, written) == 1
    assert build.find(world, "a dog, brown and wet, runs") == 1
    assert build.find(world, "A dog, brown and wet, runs.") == 1
    assert build.find(world, "Anything") == 0
    assert build.find(world, "a dog") is None
    assert build.find(world, "A dog.jpg") is None
    assert build.find(world, "?!") is None


def test_any_sentence_and_any_photo_have_a_place(engine, gallery, tmp_path):
    place = build.place(gallery, engine, "a red dog on a blue ground")
    assert (place.kind, place.number) == (CAPTION, None)
    assert torch.equal(place.point, engine.encode("a red dog on a blue ground").x)
    photo = engine.gallery.photos[3]
    place = build.place(gallery, engine, str(photo))
    assert (place.kind, place.number) == (PHOTO, None)
    assert torch.equal(place.point, engine.encode_photo(open_photo(photo)).x)
    up, down = build.walk(gallery, place)
    assert gallery.items[up[0].number].kind == CAPTION
    assert gallery.items[down[-1].number].kind == PHOTO
    (tmp_path / "text.png").write_text("no photo")
    for bad, told in (("text.png", "is not a photo"), ("gone.jpg", "no file")):
        with pytest.raises(UserError, match=told):
            build.place(gallery, engine, str(tmp_path / bad))


@pytest.mark.parametrize(
    ("typed", "told"),
    [("wug", "knows no word"), ("", "empty"), ("a\x00b", "control"), ("a " * 999, "at most 1,000")],
)
def test_a_sentence_that_says_nothing_has_no_place(engine, gallery, typed, told):
    with pytest.raises(UserError, match=told):
        build.place(gallery, engine, typed)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("wug", "There is no concept 'wug'; try a simpler word"),
        ("pupy", "try puppy"),
        ("dog.n.07", "There is no sense 'dog.n.07'; choose one of dog"),
        ("", "There is no concept ''"),
    ],
)
def test_an_unknown_word_or_sense_has_no_place(reader, concepts, typed, told):
    with pytest.raises(UserError, match=told):
        build.place(concepts, reader, typed)


def test_what_was_joined_is_not_among_the_nearest(reader, concepts):
    made_of = [build.place(concepts, reader, name) for name in ("dog", "cat")]
    point = torch.cat([place.point for place in made_of]).amin(0, keepdim=True)
    found = build.nearest(concepts, point, made_of, 3)
    assert set(found) == {CONCEPT}
    assert texts(concepts, found[CONCEPT])[0] == "animal"
    assert found[CONCEPT][0].violation == 0
    assert not {"dog", "cat"} & set(texts(concepts, found[CONCEPT]))
    assert len(found[CONCEPT]) == 3


def test_each_kind_has_its_nearest(gallery):
    found = build.nearest(gallery, gallery.x[[1]], [], 2)
    assert list(found) == [CONCEPT, CAPTION, PHOTO]
    assert {len(steps) for steps in found.values()} == {2}
    assert texts(gallery, found[CONCEPT])[0] == "an animal"


@given(
    st.lists(st.lists(QUARTERS, min_size=3, max_size=3), min_size=2, max_size=10),
    st.sampled_from([0.2, float("inf")]),
)
def test_arrows_are_the_order_after_transitive_reduction(rows, limit):
    world = of(torch.tensor(rows))
    world.limit = limit
    n, heights = range(len(rows)), world.heights.tolist()
    apart = [
        [sum(max(0, a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in rows] for x in rows
    ]
    above = {
        (i, j)
        for i in n
        for j in n
        if heights[i] < heights[j] and apart[i][j] <= min(limit, build.CLEAR * apart[j][i])
    }
    direct = {(i, j) for i, j in above if not any({(i, k), (k, j)} <= above for k in n)}
    found = build.arrows(world, [*n, *n])
    assert {(a.general, a.specific) for a in found} <= direct
    for j in n:
        told = [a.violation for a in found if a.specific == j]
        wanted = sorted(apart[i][k] for i, k in direct if k == j)[: build.PARENTS]
        assert told == pytest.approx(wanted)
    assert all(a.violation == pytest.approx(apart[a.general][a.specific]) for a in found)


def test_arrows_of_some_items_keep_their_numbers(concepts, reader):
    dog, puppy, entity = (reader.model.text.find(w) for w in ("dog", "puppy", "entity"))
    found = build.arrows(concepts, [puppy, entity, dog])
    assert {(a.general, a.specific) for a in found} == {(entity, dog), (dog, puppy)}


def test_a_map_shows_all_unless_concepts_are_many(concepts, gallery):
    assert build.on_map(concepts) == list(range(len(concepts)))
    assert build.on_map(gallery) == list(range(len(gallery)))
    names = [f"w{i // 2}.n.{i % 2 + 1:02}" for i in range(2 * build.ON_MAP + 2)]
    x = torch.arange(len(names)).float()[:, None]
    many = World([Item(CONCEPT, name) for name in names], x, SCORES["order"])
    assert build.on_map(many) == list(range(build.ON_MAP))
    shown = build.on_map(many, {"w3", "w299", "unknown"})
    assert shown == [*range(build.ON_MAP), 2 * 299]  # its first sense


def test_phrases_are_as_people_say_them():
    phrases = build.phrases_of_concepts()
    assert {"a dog", "an animal", "furniture"} <= set(phrases)
    assert len(set(phrases)) == len(phrases)
    fake = SimpleNamespace(model=SimpleNamespace(text=SimpleNamespace(needs=frozenset({"words"}))))
    assert not build.is_of_concepts(fake)
