"""Storybook in the app: drawn on demand, and browsed where it cannot be searched."""

import re
import shutil
import urllib.error
from types import SimpleNamespace

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.conftest import BACKBONE
from tests.support.checkpoint_copies import editable_copy
from tests.support.pages import tab_of
from tests.support.pages import visit as visit_of
from tests.ui.conftest import served_here
from vsdemo.core.errors import UserError
from vsdemo.core.hits import make_hits
from vsdemo.data import caption_bank
from vsdemo.data.storybook import store
from vsdemo.search.description import Description
from vsdemo.search.engine import Reader
from vsdemo.ui import callbacks
from vsdemo.ui.describe.state import DescribeState
from vsdemo.ui.describe.tab import SENTENCES, DescribeTab
from vsdemo.ui.library import Library
from vsdemo.ui.search.tab import SearchTab

GALLERY = "storybook-test"
KEY = ("gru", GALLERY)


@pytest.fixture
def few(checkpoints, monkeypatch, tmp_path):
    """A fresh machine, and of Storybook's test split six pictures."""
    monkeypatch.setitem(store.SPLITS, "test", range(4500, 4506))
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    monkeypatch.setattr(callbacks, "PATIENCE", 20)
    return Library


@pytest.fixture
def offline(few, monkeypatch):
    """The same without data, weights and internet."""

    def fail(*args, **options):
        raise urllib.error.URLError("no route")

    monkeypatch.delenv("VSDEMO_DATA")
    monkeypatch.setattr("vsdemo.vision.backbones.weights.download", fail)
    return few


@pytest.fixture
def shipped_app(apps, fresh_machine, monkeypatch):
    """The app on a fresh machine, with the models that ship."""
    monkeypatch.setattr(callbacks, "PATIENCE", 60)
    with served_here(apps, "shipped"):
        yield "shipped"


@pytest.fixture
def few_app(apps, checkpoints, monkeypatch):
    """The app with sixteen pictures of Storybook."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    monkeypatch.setitem(store.SPLITS, "test", range(4500, 4516))
    monkeypatch.setattr(callbacks, "PATIENCE", 60)
    with served_here(apps, "few"):
        yield "few"


def clicked(number):
    return SimpleNamespace(_data={"number": number})


def test_storybook_is_offered_and_not_drawn_before_use(offline):
    (gallery,) = offline().galleries.values()
    assert (gallery.key, gallery.label) == (GALLERY, "Storybook test (6)")
    assert not store.folder().exists()


def test_a_gallery_opens_once_and_again_after_a_failure(offline, monkeypatch):
    library = offline()

    def fail(*args):
        raise UserError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(store, "draw", fail)
        with pytest.raises(UserError, match="disk"):
            library.photos(GALLERY).result()
        with pytest.raises(UserError):
            library.engine(*KEY).result()
    pending = library.photos(GALLERY)
    assert len(pending.result().photos) == 6
    assert (pending.status.done, pending.status.total) == (6, 6)
    assert library.photos(GALLERY) is pending
    with pytest.raises(UserError, match="no 'x' here"):
        library.photos("x")


def test_damaged_pictures_are_drawn_again_when_the_gallery_opens(few):
    contents = ((".png", b""), (".png", b"{}"), (".json", b"[" * 100_000), (".json", b"{}"))
    photos = few().photos(GALLERY).result().photos
    files = [
        photo.with_suffix(suffix) for photo, (suffix, _) in zip(photos, contents, strict=False)
    ]
    whole = [file.read_bytes() for file in files]
    for file, (_, content) in zip(files, contents, strict=True):
        file.write_bytes(content)
    library = few()
    assert len(library.engine(*KEY).result().photos) == 6
    assert [file.read_bytes() for file in files] == whole


def test_without_weights_photos_are_browsed(offline):
    tab = tab_of(SearchTab, offline())
    updates = list(tab.show(visit_of(*KEY, k=4), None, ""))
    assert any("Drawing the pictures" in u.get(tab.note, "") for u in updates)
    last = [update for update in updates if tab.grid in update][-1]
    assert last[tab.grid].count("<img") == 4
    assert last[tab.detail].count('class="sentence"') == 5
    examples = next(update[tab.examples] for update in updates if tab.examples in update)
    assert "<button" not in examples  # nothing is known to be right
    state = last[tab.state]
    assert state.address == {"model": "gru", "gallery": GALLERY}
    updates = list(tab.show_more(state))
    more = next(update for update in updates if tab.grid in update)
    assert more[tab.grid].count("<img") == 6
    assert more[tab.more]["interactive"] is False
    assert "Search is not available" in updates[-1][tab.note]
    large = list(tab.select(state, clicked(3)))[-1]
    assert "/3/large" in large[tab.detail]
    assert large[tab.state].address["photo"] == "3"


def test_without_weights_the_page_says_what_is_missing(offline):
    tab = tab_of(SearchTab, offline())
    last = list(tab.show(visit_of(*KEY, k=4), None, ""))[-1]
    assert tab.grid not in last
    assert re.search(f"Search is not available: .*{BACKBONE}", last[tab.note])
    with pytest.raises(UserError, match="could not be downloaded"):
        list(tab.run("a red ball", *KEY, 4))
    with pytest.raises(UserError, match="could not be downloaded"):
        list(tab.show(visit_of(*KEY, "a red ball", k=4), None, ""))


def test_without_weights_a_picture_has_its_captions(offline):
    library = offline()
    tab = tab_of(DescribeTab, library)
    list(tab.offer(GALLERY))
    last = list(tab.describe(DescribeState(*KEY, photo=2)))[-1]
    own = library.photos(GALLERY).result().own_captions(2)
    assert last[tab.state].sentences == tuple(own)
    assert last[tab.sentences].count('class="sentence"') == 5
    assert "Written for this photo" in last[tab.sentences]


def test_with_weights_storybook_is_searched_and_described(few):
    library = few()
    tab = tab_of(SearchTab, library)
    shown = tab.show(visit_of(*KEY, "a red circle", k=4), None, "")
    opened, answered = [update for update in shown if tab.state in update]
    assert opened[tab.state].text == "a red circle"
    assert tab.grid not in opened  # photos would be replaced at once
    assert len(answered[tab.state].hits) == 4
    describe_tab = tab_of(DescribeTab, library)
    described = list(describe_tab.describe(DescribeState(*KEY, photo=2)))[-1][describe_tab.state]
    captions = library.photos(GALLERY).result().captions
    assert set(described.sentences) <= set(captions)


def test_an_upload_is_described_by_a_model_that_has_seen_photos(
    few, checkpoints, tmp_path, monkeypatch, toy_root
):
    own = shutil.copytree(checkpoints, tmp_path / "checkpoints")
    painter = editable_copy(own / "toy" / "gru", own / "drawn" / "painter")
    spec = (painter / "config.json").read_text()
    (painter / "config.json").write_text(spec.replace('"dataset": "toy"', '"dataset": "storybook"'))
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(own))
    library = few()
    tab = tab_of(DescribeTab, library)
    photo = next((toy_root / "toy" / "images").iterdir())
    notes = {}
    for model in ("gru", "painter"):
        last = list(tab.describe(DescribeState(model, GALLERY, upload=str(photo))))[-1]
        assert set(last[tab.state].sentences) <= set(caption_bank.sentences())
        assert last[tab.sentences].count('class="sentence"') == SENTENCES
        notes[model] = last[tab.sentences]
    assert "by gru, because painter has only seen drawings" in notes["painter"]
    assert "drawings" not in notes["gru"]
    assert library.describer("painter") is library.describer("gru")


@pytest.mark.parametrize(
    ("likely", "note", "alternative"),
    [
        (("a red circle", "a shape"), "Probably: a red circle; a shape.", "a red circle"),
        ((), "Not sure what this photo shows", None),
        (None, "Best 2 of", "A ball"),
    ],
)
def test_a_visitors_photo_is_described_by_what_it_probably_shows(
    few, toy_root, monkeypatch, likely, note, alternative
):
    hits = make_hits(["A ball", "A box"], [(0, 0.9, 0.9), (1, 0.8, 0.8)], None)
    monkeypatch.setattr(Reader, "describe", lambda *_: Description(hits, likely))
    tab = tab_of(DescribeTab, few())
    photo = str(next((toy_root / "toy" / "images").iterdir()))
    last = list(tab.describe(DescribeState("gru", GALLERY, upload=photo)))[-1]
    assert note in last[tab.sentences]
    assert ("Probably" in last[tab.sentences]) == bool(likely)
    assert tab.context.uploads.sentence(photo) == (alternative or "")


def test_photos_are_browsed_until_they_can_be_searched(few, monkeypatch):
    library = few()
    tab = tab_of(SearchTab, library)
    monkeypatch.setattr(callbacks, "is_ready_soon", lambda *_, **__: False)
    updates = list(tab.show(visit_of(*KEY, k=4), None, ""))
    photos = [update[tab.grid].count("<img") for update in updates if tab.grid in update]
    assert photos == sorted(photos)  # as they are drawn
    assert photos[-1] == 4
    assert "6 photos. Type a sentence" in updates[-1][tab.note]
    assert tab.grid not in updates[-1]
    assert library.engine(*KEY).status.label == "Encoding photos"
    state = list(tab.show(visit_of(*KEY, "a red ball", k=4), None, ""))[-1][tab.state]
    assert state.photo == state.hits[0].number


def test_photos_that_are_browsed_meanwhile_do_not_end_a_search(few, monkeypatch):
    tab = tab_of(SearchTab, few())
    monkeypatch.setattr(callbacks, "is_ready_soon", lambda *_, **__: False)
    updates = tab.show(visit_of(*KEY, "a red ball", k=4), None, "")
    browsed = next(update for update in updates if tab.grid in update)[tab.state]
    updates.close()
    assert not browsed.hits
    *_, last = tab.show_more(browsed)
    assert len(last[tab.state].hits) == 4
    assert last[tab.state].text == "a red ball"


def test_a_fresh_machine_shows_pictures_and_captions(fresh_app, visit):
    page = visit(fresh_app)
    photos = page.locator("#grid button.frame")
    expect(photos).to_have_count(12)
    page.wait_for_function("[...document.querySelectorAll('#grid img')].every(i => i.naturalWidth)")
    expect(page.get_by_role("status").first).to_contain_text("Search is not available")
    assert page.locator(".toast-body").count() == 0
    expect(page.get_by_label("Gallery")).to_have_value("Storybook test (16)")
    photos.nth(5).click()
    expect(page.locator("#detail .large img")).to_have_attribute("src", re.compile("/5/large$"))
    expect(page.locator("#detail .written button")).to_have_count(5)
    page.get_by_role("button", name="Show more").first.click()
    expect(photos).to_have_count(16)
    page.get_by_label("Sentence", exact=True).fill("an animal in the snow")
    page.get_by_role("button", name="Find photos").click()
    expect(page.get_by_role("alert").first).to_contain_text("could not be downloaded")
    expect(photos).to_have_count(16)
    page.get_by_role("button", name="Describe", exact=True).click()
    expect(page.locator("#sentences button.sentence")).to_have_count(5)
    expect(page.locator("#photo img")).to_be_visible()


def test_the_shipped_models_search_storybook_and_describe_an_upload(shipped_app, visit, tmp_path):
    """Without data, internet and a word of set-up; every word of the photo's sentences is ours."""
    page = visit(shipped_app)
    expect(page.locator("#grid .score-bar")).to_have_count(12, timeout=60_000)
    page.get_by_label("Sentence", exact=True).fill("an animal in the snow")
    page.get_by_role("button", name="Find photos").click()
    expect(page).to_have_url(re.compile("q=an\\+animal"))
    expect(page.locator("#grid .score-bar")).to_have_count(12)
    page.get_by_role("tab", name="Describe").click()
    expect(page.locator("#sentences button.sentence")).to_have_count(10)
    Image.effect_noise((90, 60), 50).save(tmp_path / "noise.png")
    page.locator("#photo button[aria-label='Remove Image']").click()
    page.locator("#photo input[type=file]").set_input_files(tmp_path / "noise.png")
    expect(page.get_by_text("only seen drawings")).to_be_visible()
    notes = page.locator("#sentences button.sentence").all_text_contents()
    assert set(notes) <= set(caption_bank.sentences())


def test_storybook_can_be_chosen(few_app, visit):
    page = visit(few_app)
    expect(page.locator("#grid button.frame")).to_have_count(8)
    page.get_by_label("Gallery").click()
    page.get_by_role("option", name="Storybook test (16)").click()
    expect(page.locator("#grid button.frame")).to_have_count(12)
    page.get_by_label("Sentence", exact=True).fill("a red ball")
    page.get_by_role("button", name="Find photos").click()
    expect(page.locator("#grid .score-bar")).to_have_count(12)
    expect(page).to_have_url(re.compile("q=.*gallery=storybook-test"))
