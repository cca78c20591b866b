"""The list of models: its texts, what a click may choose, and how often it is filled."""

import time
from concurrent.futures import Future
from types import SimpleNamespace

import gradio as gr
import pytest

from tests.support.pages import PAGE
from vsdemo.core.errors import UserError
from vsdemo.evaluation.task import Quality
from vsdemo.ui import callbacks
from vsdemo.ui.library import Library, offers
from vsdemo.ui.library.offers import ModelOffer, OfferGroup, State
from vsdemo.ui.models import menu, view
from vsdemo.ui.models.menu import ModelMenu

GALLERY = "toy-test"


@pytest.fixture
def library(app_checkpoints, monkeypatch, tmp_path):
    """A library with the models `gru` and `order`; nothing is prepared or measured."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(app_checkpoints))
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    return Library()


@pytest.fixture
def models(library):
    """The menu, outside of a page."""
    with gr.Blocks():
        return ModelMenu(library, GALLERY)


def panel(*rows, chosen=""):
    return view.panel([OfferGroup("For tests", "Made up.", rows, fits=True)],
                      chosen=chosen, gallery="Toy (8)")  # fmt: skip


@pytest.mark.parametrize(
    ("offer", "status"),
    [
        (ModelOffer("a", State.READY), "ready"),
        (ModelOffer("a", State.PREPARING), "preparing"),
        (ModelOffer("a", State.PREPARING, seconds=70), "preparing, about 70 s left"),
        (ModelOffer("a", State.COSTS, seconds=0.2), "about 1 s"),
        (ModelOffer("a", State.COSTS, seconds=42.4), "about 42 s"),
        (ModelOffer("a", State.COSTS, seconds=600), "about 10 min"),
        (ModelOffer("a", State.UNMEASURED), "not measured yet"),
        (ModelOffer("a", State.FAILED, reason="The disk is full."), "could not be opened"),
        (ModelOffer("a", State.UNAVAILABLE, reason="It is damaged."), "not available"),
    ],
)
def test_a_model_shows_its_state(offer, status):
    assert status in view.field("a", offer)
    html = panel(offer)
    assert f">{status}</span>" in html
    assert offer.reason in html
    assert ("<button" in html) == offer.can_be_chosen


def test_a_model_is_described():
    html = panel(
        ModelOffer("gru", State.READY, kind="recurrent network over words", paper="Kiros et al.",
                   year=2014, dataset="flickr8k", network="pocket",
                   quality=Quality(13.0, "finds 13%"), licence="research only"),
        ModelOffer("own", State.READY),
        chosen="gru",
    )  # fmt: skip
    assert "Recurrent network over words · Kiros et al. 2014" in html
    assert "Trained on Flickr8k · finds 13% · image network pocket · research only" in html
    assert html.count("aria-current") == 1
    assert 'data-name="gru" aria-current="true"' in html
    assert '<h2 id="models-1">For tests</h2>' in html
    assert 'aria-labelledby="models-1"' in html


def test_a_rate_that_is_being_measured_says_so():
    groups = [OfferGroup("", "", (ModelOffer("a", State.UNMEASURED),), fits=True)]
    html = view.panel(groups, chosen="", gallery="", is_measuring=True)
    assert view.MEASURING in html


def test_the_first_model_is_the_default(library, models):
    assert models.chosen.value == library.default_model(GALLERY) == "gru"


def test_a_click_chooses_a_model_that_is_offered(models):
    assert models.clicked(GALLERY, SimpleNamespace(_data={"name": "order"})) == "order"


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        *({"name": name} for name in ("", "x", "../order", 3, None, ["gru"], {}, "GRU")),
    ],
)
def test_a_click_on_anything_else_is_refused(models, data):
    with pytest.raises(UserError, match="no longer on the page"):
        models.clicked(GALLERY, SimpleNamespace(_data=data))


def test_a_click_on_a_model_that_is_not_here_is_refused(models, monkeypatch):
    gone = ModelOffer("order", State.UNAVAILABLE, reason="Its image network is not downloaded.")
    monkeypatch.setattr(offers, "list_offers", lambda *_: [gone])
    with pytest.raises(UserError, match="not downloaded"):
        models.clicked(GALLERY, SimpleNamespace(_data={"name": "order"}))


def opened(models, model="gru"):
    """Return all updates of the opened panel, without those that change nothing."""
    updates = callbacks.report_errors(models.panel, menu.CHANNEL)(models.open)(PAGE, model, GALLERY)
    return [update for update in updates if models.field in update]


def test_an_opened_panel_is_filled_until_all_is_measured(models):
    first, *_, last = opened(models)
    assert view.MEASURING in first[models.panel]
    assert view.MEASURING not in last[models.panel]
    assert "about 1 s" in last[models.panel]
    (only,) = opened(models)
    assert only[models.panel] == last[models.panel]


def test_an_opened_panel_is_filled_again_when_a_preparation_ends(library, models, monkeypatch):
    library.measure(GALLERY).result()
    monkeypatch.setattr(menu, "TICK", 0.05)
    load, go = library._load_engine, Future()

    def load_later(*args):
        go.result()
        return load(*args)

    monkeypatch.setattr(library, "_load_engine", load_later)
    engine = library.engine("gru", GALLERY, keep=True)
    updates = models.open("gru", GALLERY)
    assert "preparing" in next(updates)[models.field]
    assert models.field not in next(updates)  # nothing changed
    go.set_result(None)
    engine.result()
    last = list(updates)[-1]
    assert "ready" in last[models.field]
    assert models.update_field("gru", GALLERY) == last[models.field]


def test_the_field_names_a_model_that_was_deleted(models):
    html = models.update_field("deleted", GALLERY)
    assert "deleted" in html
    assert "model-status" not in html


def test_a_closed_panel_does_no_work(library, models, monkeypatch):
    library.measure(GALLERY).result()
    monkeypatch.setattr(menu, "TICK", 0.05)
    monkeypatch.setattr(library, "preparations", lambda gallery: [Future()])  # goes on for ever
    guard = callbacks.report_errors(models.panel, menu.CHANNEL)
    updates = guard(models.open)(PAGE, "gru", GALLERY)
    assert models.field in next(updates)
    list(guard(models.close)(PAGE))
    started = time.monotonic()
    list(updates)
    assert time.monotonic() - started < 5
