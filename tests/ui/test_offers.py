"""What each model costs in a gallery, and which one is the default."""

import json
import time
from contextvars import ContextVar
from dataclasses import replace

import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from tests.support.checkpoint_copies import editable_copy
from vsdemo.core import rates
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data.galleries import Gallery
from vsdemo.evaluation.task import Quality
from vsdemo.models import checkpoint
from vsdemo.ui.library import Library, offers
from vsdemo.ui.library.offers import ModelOffer, State
from vsdemo.ui.library.pending import Pending, Status
from vsdemo.vision.backbones.families import DIFFERENCE

MISSING_NETWORK = "torchvision/resnet50"  # its weights are not available
RATE = "features torchvision/mobilenet_v3_small center cpu"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty VSDEMO_HOME."""
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("torch.hub.get_dir", lambda: str(tmp_path / "hub"))
    return tmp_path / "home"


@pytest.fixture
def shelf(toy_checkpoint, tmp_path, monkeypatch, home):
    """Add a copy of `gru` by its name, with another data set, image network or metrics."""
    root = tmp_path / "checkpoints"
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(root))

    def add(name, dataset="toy", backbone=None, crops=None, recall=50.0):
        folder = editable_copy(toy_checkpoint, root / dataset / name)
        spec = json.loads((folder / "config.json").read_text())
        spec["dataset"] = dataset
        spec["config"]["backbone"] = backbone or spec["config"]["backbone"]
        spec["config"]["crops"] = crops or spec["config"]["crops"]
        (folder / "config.json").write_text(json.dumps(spec))
        result = {"t2i": {"r1": recall}, "rsum": 6 * recall, "n_images": 8, "n_captions": 40}
        (folder / "metrics.json").write_text(json.dumps({"dev": result, "test": result}))
        return folder

    return add


@pytest.fixture
def gru(shelf):
    """A library with one model."""
    shelf("gru")
    return Library()


def only(library, gallery="toy-test"):
    (offer,) = library.offers(gallery)
    return offer


def test_a_model_says_what_it_is(gru):
    offer = only(gru)
    assert offer.key == "gru"
    assert "recurrent network over words" in offer.kind
    assert (offer.paper, offer.year) == ("Kiros et al.", 2014)
    assert (offer.dataset, offer.data) == ("toy", "toy")
    assert offer.network == "mobilenet_v3_small"
    assert offer.quality.text == "finds the right one of 8 photos first for 50% of 40 sentences"
    assert offer.licence


def test_every_registered_model_says_what_it_is():
    for offer in offers_of_shipped():
        assert offer.kind, offer.key
        own = {"storybook vse", "flickr8k vse", "flickr8k vse-pocket"}  # our own recipes
        if offer.key not in own:
            assert offer.paper, offer.key
            assert 2013 <= offer.year <= 2021
        assert offer.quality, offer.key
        assert offer.licence


def offers_of_shipped():
    """Return the offers of the checkpoints of photos that ship."""
    folders = {
        f"{folder.parent.name} {folder.name}": folder
        for folder in checkpoint.shipped()
        if checkpoint.read_spec(folder).features
    }
    assert len(folders) >= 20
    gallery = Gallery("none", "none", "none", "all", ())
    return offers.list_offers(folders, gallery, {})


def test_a_cost_comes_from_a_measured_rate(gru, home):
    assert only(gru).state is State.UNMEASURED
    assert only(gru).photos == 8
    rates.record(RATE, 10, 20.0)
    assert only(gru).state is State.COSTS
    assert only(gru).seconds == pytest.approx(16)


def test_cached_features_are_not_paid_again(gru):
    cache = checkpoint.feature_cache(checkpoint.read_spec(gru.models["gru"]))
    rates.record(RATE, 1000, 1000.0)
    cache.get(gru.galleries["toy-test"].photos[:3])
    assert only(gru).photos == 5
    assert only(gru).seconds == pytest.approx(5, rel=0.1)
    cache.get(gru.galleries["toy-test"].photos)
    assert only(gru).state is State.READY
    assert only(gru).seconds == 0
    assert only(gru, "toy-all").state is State.COSTS


def test_a_preparation_is_recorded_and_makes_models_ready(gru):
    gru.engine("gru", "toy-test").result()
    assert only(gru).state is State.READY
    assert rates.seconds_per_item(RATE) > 0
    assert only(gru, "toy-all").state is State.COSTS


def test_copies_of_a_photo_cost_once(shelf, tmp_path):
    shelf("gru")
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, colour in (("a", "red"), ("b", "red"), ("c", "blue")):
        Image.new("RGB", (64, 48), colour).save(folder / f"{name}.png")
    library = Library(str(folder))
    assert library.offers(next(iter(library.galleries)))[0].photos == 2


def test_a_preparation_that_runs_is_shown(gru):
    status = Status("Encoding photos")
    pending = Pending(status)
    engines = {"gru": pending}
    gallery = gru.galleries["toy-test"]
    assert offers.list_offers(gru.models, gallery, engines)[0].state is State.PREPARING
    pending.future.set_exception(UserError("The disk is full."))
    failed = offers.list_offers(gru.models, gallery, engines)[0]
    assert failed.state is State.FAILED
    assert failed.can_be_chosen
    assert failed.reason == "The disk is full."


def test_a_cancelled_preparation_leaves_no_trace(gru):
    pending = Pending(Status("Encoding photos"))
    pending.future.set_exception(Cancelled())
    offer = offers.list_offers(gru.models, gru.galleries["toy-test"], {"gru": pending})[0]
    assert offer.state is State.UNMEASURED


def test_a_model_without_its_image_network_says_so(shelf):
    shelf("gru", backbone=MISSING_NETWORK)
    offer = only(Library())
    assert offer.state is State.UNAVAILABLE
    assert not offer.can_be_chosen
    assert offer.reason == "Its image network resnet50 is not downloaded."
    assert offer.kind


def test_a_model_over_a_tuned_network_needs_the_network_before(shelf, tmp_path):
    shelf("gru", backbone="tuned:other/vse")
    file = tmp_path / "checkpoints" / "other" / "vse" / DIFFERENCE
    file.parent.mkdir(parents=True)
    save_file({"x": torch.zeros(1)}, file, {"base": MISSING_NETWORK})
    offer = only(Library())
    assert offer.state is State.UNAVAILABLE
    assert offer.reason == "Its image network resnet50 is not downloaded."
    assert offer.network == "resnet50, tuned with other/vse"


def test_a_model_of_other_weights_of_the_network_says_so(shelf):
    folder = shelf("gru")
    spec = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**spec, "backbone_hash": "0" * 16}))
    offer = only(Library())
    assert offer.state is State.UNAVAILABLE
    assert "weights" in offer.reason


def cut_weights(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])


@pytest.mark.parametrize(
    "damage",
    [
        cut_weights,
        lambda folder: (folder / "model.safetensors").unlink(),
        lambda folder: (folder / "vocab.json").unlink(),
        lambda folder: (folder / "config.json").write_text("{"),
    ],
    ids=["cut weights", "no weights", "no words", "no configuration"],
)
def test_a_damaged_model_says_so(shelf, damage):
    damage(shelf("gru"))
    offer = only(Library())
    assert offer.state is State.UNAVAILABLE
    assert "damaged" in offer.reason


def test_damaged_metrics_leave_the_model_without_a_figure(shelf):
    folder = shelf("gru")
    (folder / "metrics.json").write_text('{"test": {"t2i": 3}}')
    offer = only(Library())
    assert offer.quality is None
    assert offer.state is State.UNMEASURED


def test_a_missing_rate_is_measured_with_few_photos(gru):
    gru.measure("toy-test").result()
    offer = only(gru)
    assert offer.state is State.COSTS
    assert offer.photos == 3  # the others were measured with, and are cached
    assert 0 < offer.seconds < 60
    before = rates.seconds_per_item(RATE)
    gru.measure("toy-test").result()
    assert rates.seconds_per_item(RATE) == before


def test_what_cannot_be_measured_is_left_out(shelf):
    shelf("gru", backbone=MISSING_NETWORK)
    (shelf("damaged") / "config.json").write_text("{")
    Library().measure("toy-test").result()


def test_pictures_that_are_not_drawn_yet_cost_time_too(gru, monkeypatch):
    gallery = gru.galleries["storybook-test"]
    assert not any(photo.exists() for photo in gallery.photos)
    rates.record(RATE, 10, 10.0)
    assert only(gru, "storybook-test").state is State.UNMEASURED
    rates.record("drawing storybook", 10, 20.0)
    offer = only(gru, "storybook-test")
    assert offer.state is State.COSTS
    assert offer.seconds == pytest.approx(3 * len(gallery.photos))


def offer(key, dataset, state=State.READY, recall=None, effort=1):
    quality = None if recall is None else Quality(recall, f"{recall}%")
    return ModelOffer(key, state, dataset=dataset, quality=quality, effort=effort)


def gallery(name):
    return Gallery(name, name, name, "test", ())


def keys(groups):
    return [[offer.key for offer in group.offers] for group in groups]


MIXED = [
    offer("drawn", "storybook", recall=40),
    offer("drawn better", "storybook", recall=45),
    offer("photos", "flickr8k", recall=20),
    offer("few photos", "pascal1k", recall=60),
    offer("own", "somewhere", recall=90),
    offer("no figure", "flickr8k"),
    offer("gone", "flickr8k", State.UNAVAILABLE, recall=99),
]


def test_models_are_grouped_by_what_they_were_trained_on():
    groups = offers.group_offers(MIXED, gallery("storybook"))
    assert [group.title for group in groups] == ["For Storybook", "For photos", "Not available"]
    assert keys(groups)[0] == ["drawn better", "drawn"]
    assert keys(groups)[1] == ["photos", "no figure", "few photos", "own"]
    assert [group.fits for group in groups] == [True, False, False]
    groups = offers.group_offers(MIXED, gallery("pascal1k"))
    assert [group.title for group in groups] == [
        "For Pascal1K",
        "For photos",
        "For drawings",
        "Not available",
    ]
    assert [group.fits for group in groups] == [True, True, False, False]
    assert all(group.description.endswith(".") for group in groups)


def test_photos_of_ones_own_fit_models_of_photos():
    groups = offers.group_offers(MIXED, gallery("/home/me/photos"))
    assert [group.title for group in groups] == ["For photos", "For drawings", "Not available"]


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        pytest.param(MIXED, "drawn better", id="best that is ready"),
        pytest.param(
            [offer("best", "storybook", State.COSTS, 50), offer("ready", "storybook", recall=30)],
            "ready",
            id="ready before better",
        ),
        pytest.param(
            [offer("slow", "storybook", State.COSTS, 50, 10),
             offer("regions", "storybook", State.UNMEASURED, 60, 7),
             offer("soon", "storybook", State.UNMEASURED, 20),
             offer("soon and better", "storybook", State.PREPARING, 30)],
            "soon and better",
            id="soonest, then best",
        ),
        pytest.param(
            [offer("photos", "flickr8k"), offer("drawn", "storybook", State.UNMEASURED)],
            "drawn",
            id="fits before ready",
        ),
        pytest.param(
            [offer("photos", "flickr8k"), offer("drawn", "storybook", State.UNAVAILABLE)],
            "photos",
            id="nothing fits",
        ),
        pytest.param(
            [offer("failed", "storybook", State.FAILED, 90, 1),
             offer("works", "storybook", State.COSTS, 10, 10)],
            "works",
            id="not what failed",
        ),
        pytest.param([offer("gone", "storybook", State.UNAVAILABLE)], None, id="nothing"),
    ],
)  # fmt: skip
def test_the_default_is_the_best_model_that_is_ready(models, expected):
    groups = offers.group_offers(models, gallery("storybook"))
    assert offers.default_offer(groups) == expected


def test_the_default_is_no_model_that_takes_long_where_another_one_fits():
    models = [
        offer("own data, ten views", "pascal1k", State.COSTS, 43, 10),
        offer("one view", "flickr8k", State.COSTS, 13, 1),
        offer("drawings", "storybook"),
    ]
    groups = offers.group_offers(models, gallery("pascal1k"))
    assert offers.default_offer(groups) == "one view"


@pytest.mark.parametrize(
    ("name", "state", "expected"),
    [
        ("/home/me/photos", State.COSTS, "clip"),
        ("/home/me/photos", State.FAILED, "photos"),
        ("flickr8k", State.READY, "photos"),
        ("storybook", State.READY, "drawn"),
    ],
)
def test_a_model_of_open_clip_is_the_default_for_photos_of_ones_own(name, state, expected):
    models = [
        offer("photos", "flickr8k", recall=20),
        offer("drawn", "storybook", recall=40),
        offer("clip", "", state),
    ]
    assert offers.default_offer(offers.group_offers(models, gallery(name))) == expected


def test_of_several_models_of_open_clip_one_that_is_ready_is_the_default():
    models = [offer("clip", "", State.COSTS), offer("siglip", ""), offer("photos", "flickr8k")]
    assert offers.default_offer(offers.group_offers(models, gallery("photos"))) == "siglip"


def test_models_of_the_first_and_the_last_paper_are_contrasts():
    def of(key, paper, year, state=State.READY, recall=50, photos=0):
        return replace(
            offer(key, "toy", state, recall), paper=paper, year=year, photos=photos, network=key
        )

    own = of("own", "Frome", 2013)
    others = [
        of("same paper", "Frome", 2013, recall=90),
        of("early", "Socher", 2014, recall=10),
        of("middle", "Vendrov", 2016, recall=80),
        of("worse", "Vendrov", 2016, recall=70),
        of("late", "Radford", 2021, State.UNMEASURED, recall=20, photos=offers.QUICK),
        of("long", "Merckx", 2022, State.UNMEASURED, recall=99, photos=offers.QUICK + 1),
        of("broken", "Ganea", 2023, State.UNAVAILABLE, recall=99),
    ]
    groups = offers.group_offers([own, *others], gallery("toy"))
    chosen = offers.contrasts(own, groups)
    assert chosen[:3] == ["late", "early", "middle"]
    assert set(chosen) == {"late", "early", "middle", "worse", "same paper"}
    assert offers.contrasts(own, offers.group_offers([own], gallery("toy"))) == []


def test_the_library_has_a_default_even_if_nothing_is_available(shelf):
    shelf("gru", backbone=MISSING_NETWORK)
    assert Library().default_model("toy-test") == "gru"


def test_a_model_that_became_ready_becomes_the_default(shelf):
    shelf("slow", crops="ten", recall=80)
    shelf("quick", recall=20)
    library = Library()
    assert library.default_model("toy-test") == "quick"
    library.engine("slow", "toy-test").result()
    assert library.default_model("toy-test") == "slow"


def test_listing_reads_no_weights_and_takes_less_than_200_ms(shelf, monkeypatch):
    for number in range(22):
        shelf(f"gru-{number}", crops=("center", "ten")[number % 2])
    library = Library()
    library.offers("toy-all")  # reads the photos once
    monkeypatch.setattr(checkpoint, "load_file", lambda *_: pytest.fail("weights were read"))
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        assert len(library.offers("toy-all")) == 22
        seconds.append(time.perf_counter() - started)
    assert min(seconds) < 0.2


def test_one_model_costs_as_much_as_in_the_list(shelf):
    shelf("gru")
    shelf("other", backbone=MISSING_NETWORK)
    library = Library()
    for offer in library.offers("toy-test"):
        assert library.offer(offer.key, "toy-test") == offer
    with pytest.raises(UserError, match="no 'x' here"):
        library.offer("x", "toy-test")


def test_work_runs_in_the_context_of_the_visitor_who_wants_it(home):
    visitor = ContextVar("visitor", default="nobody")
    library = Library()
    visitor.set("Ada")
    assert library.submit(library.status("Working"), visitor.get).result() == "Ada"
