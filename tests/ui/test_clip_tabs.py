"""A model of open_clip with random weights answers in every tab, or the tab says why not."""

import json
import re
from types import SimpleNamespace

import httpx
import open_clip
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.support.clips import write_clip
from tests.support.pages import last, shown, tab_of, text, visit
from tests.ui.conftest import served_here
from vsdemo.data import caption_bank
from vsdemo.data.relations import common_sentences
from vsdemo.hierarchy import projection
from vsdemo.hierarchy.order import ROOT
from vsdemo.models import checkpoint_names
from vsdemo.ui import TABS
from vsdemo.ui.alignment.tab import AlignTab
from vsdemo.ui.callbacks import UNEXPECTED
from vsdemo.ui.compare.tab import CompareTab
from vsdemo.ui.describe.tab import DescribeTab
from vsdemo.ui.hierarchy.lesson import MISTAKE
from vsdemo.ui.hierarchy.tab import HierarchyTab
from vsdemo.ui.library import Library
from vsdemo.ui.search.tab import SearchTab
from vsdemo.ui.sentences.tab import SentencesTab
from vsdemo.ui.training.tab import TrainTab

GALLERY, TEXT = "toy-test", "a red circle on a blue ground"
SENTENCES = ("A dog runs.", "Two dogs run on the grass.", "A child plays with a red ball.")
GUESSES = "was not trained for an order"


@pytest.fixture(scope="module", params=["tiny", pytest.param("ViT-B-32", marks=pytest.mark.long)])
def source(request, tmp_path_factory):
    """A folder with the weights: a few, or 605 MB."""
    folder = tmp_path_factory.mktemp("clip") / "model"
    config = {} if request.param == "tiny" else open_clip.get_model_config(request.param)
    return write_clip(folder, **config)


@pytest.fixture(scope="module")
def machine(source, app_checkpoints, tmp_path_factory):
    """The key of the model in the app, which has `gru` and `order` too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("VSDEMO_CHECKPOINTS", str(app_checkpoints))
        patch.setattr(caption_bank, "sentences", lambda: SENTENCES)
        patch.setattr(common_sentences, "sentences", lambda: SENTENCES)
        patch.setattr(projection, "MIN_FOR_UMAP", 10_000)
        yield checkpoint_names.find(f"clip:local-dir:{source}").name


@pytest.fixture(scope="module")
def library(machine):
    library = Library()
    library.engine(machine, GALLERY).result()
    return library


@pytest.fixture
def model(machine, fake_parser):
    return machine


@pytest.fixture
def photo(tmp_path):
    """A visitor's photo."""
    path = tmp_path / "red.png"
    Image.new("RGB", (90, 60), "red").save(path)
    return str(path)


def clicked(**data):
    return SimpleNamespace(_data=data)


def check(update):
    """Check that an answer is no error, and return it."""
    assert not [html for html in update.values() if UNEXPECTED in str(html)]
    assert not [html for html in update.values() if "problem" in str(html)]
    return update


def test_search(library, model, photo):
    tab = tab_of(SearchTab, library)
    results = check(last(tab, tab.run, TEXT, model, GALLERY, 4))
    assert re.search(rf"of 8 photos by {model}|by {model}\.", text(results[tab.grid]))
    assert results[tab.grid].count("<img") == 4
    similar = check(last(tab, tab.search_similar, results[tab.state]))
    assert f"most similar of 8 photos by {model}" in text(similar[tab.grid])
    own = check(shown(tab, visit(model, GALLERY, upload=photo, similar="own"), None, ""))
    assert f"by {model}" in text(own[tab.grid])
    long = check(last(tab, tab.run, "a red circle " * 40, model, GALLERY, 4))
    assert "<mark>" in long[tab.words]


def test_describe(library, model, photo):
    tab = tab_of(DescribeTab, library)
    described = check(shown(tab, visit(model, GALLERY, photo=2)))
    assert f"Best 10 of 40 sentences by {model}." in text(described[tab.sentences])
    state = described[tab.state]
    typed = check(last(tab, tab.rank_typed, "a red circle\na blue bar", state))
    assert f"Your sentences, ranked by {model}." in text(typed[tab.sentences])
    own = check(last(tab, tab.upload, photo, state, model, GALLERY))
    assert f"sentences by {model}." in text(own[tab.sentences])


def test_align_says_that_it_has_no_regions(library, model, photo):
    tab = tab_of(AlignTab, library)
    aligned = check(shown(tab, visit(model, GALLERY, TEXT, photo=2)))
    assert f"{model} has one embedding for a whole photo" in text(aligned[tab.parts])
    own = check(last(tab, tab.use_upload, photo, aligned[tab.state]))
    assert f"{model} has one embedding for a whole photo" in text(own[tab.parts])


def test_sentences(library, model):
    tab = tab_of(SentencesTab, library)
    visited = shown(tab, visit(model, GALLERY, a="a red circle", b="a circle"))
    compared = check(visited | last(tab, tab.answer, visited[tab.state]))
    (chosen,) = re.findall(r'<li aria-current="true">.*?</li>', compared[tab.rows], re.DOTALL)
    assert f"<b>{model}</b>" in chosen
    assert "cosine" in chosen
    assert "Trained on other data" in text(compared[tab.rows])
    assert f"Nearest of 40 sentences by {model}." in text(compared[tab.nearest])
    assert "By order" in text(compared[tab.entailment])


def test_hierarchy_is_that_of_the_model(library, model, photo):
    tab = tab_of(HierarchyTab, library)
    opened = check(shown(tab, visit(model, GALLERY)))
    assert re.search(rf"By {model}, over \d+ items", text(opened[tab.here]))
    assert "distance from the root" in text(opened[tab.here])
    assert f"{model} {GUESSES}" in text(opened[tab.note])
    state = opened[tab.state]
    drawn = check(last(tab, tab.draw, state, None))
    record = json.loads(drawn[tab.map])
    assert record["normTitle"] == "distance from the root"
    assert record["norms"][0] == 0
    kept = None
    for place in ("a dog", "a cat"):
        state = check(last(tab, tab.run, place, state))[tab.state]
        kept = last(tab, tab.join.keep, state, kept)[tab.join.kept]
    for name in ("Compose", "Common"):
        joined = check(last(tab, tab.join.join, state, kept, name))
        assert "smallest violation first" in text(joined[tab.join.note])
    root = check(last(tab, tab.go_to_item, state, clicked(number=0)))
    assert "No item is above the root" in text(root[tab.above])
    check(last(tab, tab.follow_lesson, state, clicked(number=MISTAKE)))
    own = check(last(tab, tab.use_upload, photo, state))
    assert "Similar photos" in text(own[tab.here])


def test_train_stays_open(library, model):
    tab = tab_of(TrainTab, library)
    inputs = [widget.value for widget in tab.plan.inputs]
    opened = check(shown(tab, visit(model, GALLERY), tab.state.value, {}, *inputs))
    assert opened[tab.state].model == model
    assert "vsdemo train" in text(opened[tab.plan.command])


def test_every_tab_in_a_browser(model, apps, visit):
    with served_here(apps, "clip"):
        for tab in TABS:
            path = f"?tab={tab.key}&model={model}&gallery={GALLERY}&q=a+dog"
            page = visit("clip", path)
            answer = {
                SearchTab: page.locator("#grid").get_by_text(f"by {model}"),
                DescribeTab: page.locator("#sentences").get_by_text(f"by {model}"),
                AlignTab: page.locator("#parts").get_by_text(f"{model} has one embedding"),
                SentencesTab: page.locator("#nearest-captions").get_by_text(f"by {model}"),
                CompareTab: page.locator("#compare-results .rank"),
                HierarchyTab: page.locator("#here").get_by_text(f"By {model}, over"),
                TrainTab: page.locator("#command").get_by_text("vsdemo train"),
            }[tab]
            expect(answer.first).to_be_visible()
            expect(page).to_have_url(re.compile(f"model={model}"))
            expect(page.get_by_role("alert")).to_have_count(0)
            page.close()
        walk = {"sentence": "a dog", "model": model, "gallery": GALLERY}
        answer = httpx.post(f"{apps['clip']}api/walk", json=walk, timeout=60).json()
        assert answer["up"][-1]["kind"] == ROOT
