"""The tab Hierarchy: its loader and its callbacks."""

import json
import re
import shutil
from types import SimpleNamespace

import pytest
from PIL import Image

from tests.support import small_orders
from tests.support.pages import PAGE, last, merged, shown, tab_of, text, visit
from vsdemo.core.errors import UserError
from vsdemo.data.pairs import hypernyms
from vsdemo.hierarchy import projection
from vsdemo.hierarchy.order import PHOTO, ROOT
from vsdemo.models import checkpoint
from vsdemo.models.limits import Limits
from vsdemo.ui import callbacks
from vsdemo.ui.hierarchy import loader
from vsdemo.ui.hierarchy.lesson import COMPOSE, MISTAKE, STEPS
from vsdemo.ui.hierarchy.loader import Hierarchies
from vsdemo.ui.hierarchy.tab import CONCEPTS, GALLERY, HierarchyTab
from vsdemo.ui.library import Library
from vsdemo.ui.tabs import Visit, is_shown

NOTHING = Limits(-1, -1)  # no limit was good enough


@pytest.fixture(scope="module")
def several(toy_checkpoint, toy_order, toy_concepts, tmp_path_factory):
    """A folder of checkpoints: `gru`, which has no order, `order` and a table of concepts."""
    root = tmp_path_factory.mktemp("several")
    for folder in (toy_checkpoint, toy_order, toy_concepts):
        shutil.copytree(folder, root / "toy" / folder.name)
    return root


@pytest.fixture
def library(several, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(several))
    monkeypatch.setattr(callbacks.gr, "Warning", lambda *_, **__: None)
    monkeypatch.setattr(projection, "MIN_FOR_UMAP", 10_000)  # no umap
    return Library()


@pytest.fixture
def tab(library):
    return tab_of(HierarchyTab, library)


def opened(tab, *selection, **other):
    return shown(tab, visit("order", "toy-test", *selection, **other))


def clicked(number):
    return SimpleNamespace(_data={"number": number})


def test_another_model_is_used_if_the_chosen_one_has_no_order(tab, library):
    hierarchies = Hierarchies(library)
    for model in ("gru", "order"):
        assert hierarchies.get((model, "toy-test")).result().name == "order"
    update = shown(tab, visit("gru", "toy-test"))
    assert re.search(r"By order, over \d+ items", update[tab.here])
    assert "gru has no order, so this is the hierarchy of order." in text(update[tab.note])
    assert "The order of order has not been calibrated on this data" in text(opened(tab)[tab.note])
    concepts = last(tab, tab.choose, CONCEPTS, update[tab.state])
    assert concepts[tab.note] == ""


@pytest.mark.parametrize(
    ("limits", "shown_model", "reason"),
    [
        (None, "limited", "The order of order has not been calibrated on this data"),
        (Limits(-1, -1), "order", ""),
        (Limits(0.2, 0.2), "order", ""),
    ],
)
def test_an_order_that_was_not_measured_gives_way_to_one_with_limits(
    several, tmp_path, monkeypatch, limits, shown_model, reason
):
    root = shutil.copytree(several, tmp_path / "checkpoints")
    checkpoint.save_limits(shutil.copytree(root / "toy" / "order", root / "toy" / "none"), NOTHING)
    limited = shutil.copytree(root / "toy" / "order", root / "toy" / "limited")
    checkpoint.save_limits(limited, Limits(0.1, 0.1))
    if limits:
        checkpoint.save_limits(root / "toy" / "order", limits)
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(root))
    hierarchies = Hierarchies(Library())
    gallery = hierarchies.get(("order", "toy-test")).result()
    assert (gallery.name, gallery.reason) == (shown_model, reason)
    assert gallery.hierarchy.has_limits == (limits != NOTHING)
    gallery = hierarchies.get(("gru", "toy-test")).result()
    assert gallery.hierarchy.has_limits  # of all models that have an order


def test_a_damaged_model_is_reported(several, tmp_path, monkeypatch):
    root = shutil.copytree(several, tmp_path / "checkpoints")
    (root / "toy" / "gru" / "model.safetensors").write_bytes(b"nothing")
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(root))
    with pytest.raises(UserError, match="is damaged"):
        Hierarchies(Library()).get(("gru", "toy-test")).result()


def test_an_error_is_raised_if_no_model_has_an_order(library, monkeypatch):
    monkeypatch.delitem(library.models, "order")
    pending = Hierarchies(library).get(("gru", "toy-test"))
    with pytest.raises(UserError, match="gru has a score without an order"):
        pending.result()


def test_without_concepts_the_error_says_how_to_train_them(library, monkeypatch):
    hierarchies = Hierarchies(library)
    monkeypatch.setattr(loader, "concept_models", list)
    with pytest.raises(
        UserError, match="No model of concepts is available; `python -m vsdemo train"
    ):
        hierarchies.get(("", "")).result()
    assert "is not available" in hierarchies.toy()
    monkeypatch.undo()


def test_hierarchies_and_maps_load_once(library):
    hierarchies = Hierarchies(library)
    gallery = hierarchies.get(("", "")).result()
    assert hierarchies.get(("", "")).result() is gallery
    assert not gallery.has_photos
    points = hierarchies.map(("", ""), gallery)
    assert points.result().shape == (len(gallery.map_items), 2)
    arrows = {(a.general, a.specific) for a in gallery.arrows}
    assert arrows == set(hypernyms.load("toy").edges)


def test_the_tab_starts_at_the_first_example(tab):
    update = opened(tab)
    assert update[tab.query] == "a brown dog runs"  # this order has no limits
    assert "Here: caption" in text(update[tab.here])
    assert "q=a+brown+dog+runs" in update[tab.context.address]


def test_the_tab_starts_at_the_concept_of_the_address(tab):
    update = opened(tab, text="a dog")
    assert update[tab.query] == "a dog"
    assert "Here: concept" in text(update[tab.here])
    assert "Photos below" in text(update[tab.here])
    assert update[tab.state].node.text == "a dog"
    assert "q=a+dog" in update[tab.context.address]
    again = shown(tab, visit("order", "toy-test", "a dog"), update[tab.state])
    assert tab.trail not in again or again[tab.trail] == update[tab.trail]


@pytest.mark.usefixtures("fake_parser")
def test_no_visitor_sees_the_sentences_of_another(tab):
    start = opened(tab, text="a dog")[tab.state]
    shared = tab.hierarchies.get(start.key).result().hierarchy
    count = len(shared)
    own = last(tab, tab.run, "a red circle on a secret ground", start)[tab.state]
    added = [item.text for item in own.additions.items]
    assert any("secret" in text for text in added)
    other = opened(tab, text="a red circle")
    assert "secret" not in "".join(map(str, other.values()))
    assert tab.hierarchies.get(start.key).result().hierarchy is shared
    assert len(shared) == count
    with pytest.raises(UserError, match="no longer on the page"):
        list(tab.go_to_item(start, clicked(count + len(start.additions.items))))


@pytest.mark.usefixtures("fake_parser")
def test_a_visitor_walks_among_own_sentences(tab):
    start = opened(tab)[tab.state]
    count = len(tab.hierarchies.get(start.key).result().hierarchy)
    state = last(tab, tab.run, "a red circle on a secret ground", start)[tab.state]
    for number, item in enumerate(state.additions.items, start=count):
        update = last(tab, tab.go_to_item, state, clicked(number))
        assert update[tab.query].lower() == item.text
        assert item.text in text(update[tab.here]).lower()
    other = last(tab, tab.run, "a green bar", update[tab.state])[tab.state]
    assert "secret" not in str(other.additions.items)


def test_an_unread_word_is_marked_and_corrected(tab):
    update = last(tab, tab.run, "a red trianlge", opened(tab)[tab.state])
    assert "<mark>trianlge</mark>" in update[tab.words]
    assert "Nothing is listed below" in text(update[tab.below])
    assert "Photos below" not in update[tab.here]
    corrected = last(tab, tab.correct, update[tab.state], clicked(0))
    assert corrected[tab.query] == corrected[tab.state].node.text == "a red triangle"
    assert corrected[tab.words] == ""


def test_the_tab_starts_at_the_photo_of_the_address(tab):
    update = opened(tab, photo=5)
    assert "/5/large" in update[tab.here]
    assert "photo=5" in update[tab.context.address]
    assert update[tab.query] == ""
    assert "Similar photos" in text(update[tab.here])
    assert update[tab.state].target == 5
    far = opened(tab, photo=999)
    assert far[tab.state].target == 7  # the last


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("wug", "knows no word"),
        ("", "is empty"),
        ("/etc/secret.jpg", "Type a word or a sentence"),
        ("a\x00b", "control characters"),
        ("dog " * 999, "limit is 1,000"),
    ],
)
def test_bad_input_keeps_the_page(tab, typed, message):
    state = opened(tab)[tab.state]
    update = last(tab, tab.run, typed, state)
    assert message in update[tab.note]
    assert "problem" in update[tab.note]
    assert not {tab.trail, tab.here, tab.state} & set(update)


@pytest.mark.parametrize("data", [None, {}, {"number": -1}, {"number": 10**6}, {"number": "0"}])
def test_a_click_on_an_unknown_item_is_refused(tab, data):
    state = opened(tab)[tab.state]
    update = last(tab, tab.go_to_item, state, SimpleNamespace(_data=data))
    assert "no longer on the page" in update[tab.note]


def test_the_map_is_drawn_once_and_then_only_what_changes(tab):
    state = opened(tab, text="a dog")[tab.state]
    whole = last(tab, tab.draw, state, None)
    record = json.loads(whole[tab.map])
    assert record["source"].endswith("/{number}/small")
    assert len(record["points"]) > 1 + len(small_orders.PHRASES) + 8
    again = json.loads(last(tab, tab.draw, state, whole[tab.drawn])[tab.map])
    assert again.keys() == {"path", "chosen", "source"}
    assert record["texts"][again["chosen"]] == "a dog"


def test_a_click_on_the_map_goes_there_and_a_lasso_lists(tab):
    state = opened(tab)[tab.state]
    update = last(tab, tab.select, state, SimpleNamespace(_data={"numbers": [0]}))
    assert update[tab.state].node.kind == ROOT
    update = last(tab, tab.select, state, SimpleNamespace(_data={"numbers": [0, 1, 10**6]}))
    assert "2 words and sentences" in update[tab.map_selection]
    assert tab.state not in update


def test_another_model_or_gallery_keeps_the_node(tab):
    state = last(tab, tab.run, "a cat", opened(tab)[tab.state])[tab.state]
    other = Visit("gru", "toy-all", selection=state.selection)
    update = shown(tab, other, state)
    assert update[tab.state].node.text == "a cat"
    assert (update[tab.state].model, update[tab.state].gallery) == ("gru", "toy-all")


def test_what_is_typed_while_another_model_loads_is_of_that_model(tab):
    state = last(tab, tab.run, "a cat", opened(tab)[tab.state])[tab.state]
    other = Visit("gru", "toy-all", selection=state.selection)
    early = next(tab.show(other, state))[tab.state]
    assert (early.model, early.gallery, early.target) == ("gru", "toy-all", "a cat")
    assert not is_shown(other, early)  # coming back to the tab begins again
    assert list(tab.go_to_item(early, clicked(0))) == []  # of the items of the other model
    update = last(tab, tab.run, "a dog", early)
    assert update[tab.state].node.text == "a dog"
    assert (update[tab.state].model, update[tab.state].gallery) == ("gru", "toy-all")
    again = shown(tab, Visit("order", "toy-test", selection=state.selection), early)
    assert again[tab.state].node.text == "a cat"


def test_what_is_selected_elsewhere_is_shown_and_the_other_way_round(tab):
    state = opened(tab)[tab.state]
    photo = shown(tab, visit("order", "toy-test", "a cat", photo=3), state)
    assert "/3/large" in photo[tab.here]
    sentence = shown(tab, visit("order", "toy-test", "a cat"), photo[tab.state])
    assert sentence[tab.state].node.text == "a cat"
    chosen = last(tab, tab.run, "a dog", sentence[tab.state])
    assert chosen[tab.context.selection].text == "a dog"
    concepts = shown(tab, visit("order", "toy-test", "dog", of="concepts"), chosen[tab.state])
    assert concepts[tab.state].concepts


def kept(tab, *texts):
    """Keep these texts, and return the state and the kept nodes."""
    state, tray = opened(tab)[tab.state], None
    for typed in texts:
        state = last(tab, tab.run, typed, state)[tab.state]
        tray = last(tab, tab.join.keep, state, tray)[tab.join.kept]
    return state, tray


def test_nodes_are_kept_removed_and_joined(tab):
    state, tray = kept(tab, "a dog", "a cat")
    guard = callbacks.report_errors(tab.join.note)
    again = merged(guard(tab.join.keep)(PAGE, state, tray))
    assert "already kept" in again[tab.join.note]
    update = last(tab, tab.join.join, state, tray, "Compose")
    assert "Compose: a dog + a cat" in text(update[tab.join.joined])
    assert "Photos" in text(update[tab.join.joined])
    fewer = last(tab, tab.join.remove, state, tray, clicked(0))[tab.join.kept]
    assert [node.text for node in fewer[1]] == ["a cat"]
    one = merged(guard(tab.join.join)(PAGE, state, fewer, "Common"))
    assert "keep at least two" in one[tab.join.note]


def test_two_uploads_can_be_kept(tab, tmp_path):
    tray = None
    for name in ("red", "blue"):
        Image.new("RGB", (90, 60), name).save(tmp_path / f"{name}.png")
        state = opened(tab)[tab.state]
        state = last(tab, tab.use_upload, str(tmp_path / f"{name}.png"), state)[tab.state]
        assert state.node.kind == PHOTO
        assert "photo=" not in str(state.address)
        tray = last(tab, tab.join.keep, state, tray)[tab.join.kept]
    assert len(tray[1]) == 2


def test_another_hierarchy_clears_the_panels(tab):
    state, tray = kept(tab, "a dog", "a cat")
    assert tab.join.joined not in last(tab, tab.join.change_hierarchy, state, tray)
    words = last(tab, tab.choose, CONCEPTS, state)
    assert words[tab.map_selection] == ""
    assert words[tab.query] == "dog"
    update = last(tab, tab.join.change_hierarchy, words[tab.state], tray)
    assert update[tab.join.joined] == ""
    assert update[tab.join.kept][1] == ()


def test_the_lesson_goes_to_texts_and_composes_two(tab):
    state = opened(tab)[tab.state]
    target = next(i for i, step in enumerate(STEPS) if step.target == "a dog")
    update = last(tab, tab.follow_lesson, state, clicked(target))
    assert update[tab.state].node.text == "a dog"
    photo = last(tab, tab.follow_lesson, state, clicked(MISTAKE))
    assert photo[tab.state].node.kind == PHOTO
    assert list(tab.follow_lesson(state, clicked(COMPOSE))) == []
    assert list(tab.join.follow_lesson(state, clicked(target))) == []
    concepts = last(tab, tab.choose, CONCEPTS, state)[tab.state]
    update = last(tab, tab.follow_lesson, concepts, clicked(target))
    assert update[tab.scope] == GALLERY
    assert not update[tab.state].concepts
    with pytest.raises(UserError):
        list(tab.follow_lesson(state, clicked(len(STEPS))))
