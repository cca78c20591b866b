"""The widgets above the button Train."""

import time
from itertools import count

import gradio as gr
import pytest
from playwright.sync_api import expect

from tests.support.captioned_folder import write_photos, write_table
from tests.support.pages import merged
from tests.support.training_app import choose
from vsdemo import models
from vsdemo.core.errors import UserError
from vsdemo.data.catalog.catalog import Catalog
from vsdemo.ui.library import Library
from vsdemo.ui.training import form
from vsdemo.ui.training.plan import PlanPanel, Request, first_sentence


def test_presets_of_another_package_are_offered(monkeypatch):
    monkeypatch.setattr(models, "MODELS", dict(models.MODELS))
    models.register("toy", "tests.support.toy_model:TOY")
    with gr.Blocks():
        presets = PlanPanel(gr.HTML(render=False)).preset
    assert {"toy", "toy/first_captions"} <= {value for _, value in presets.choices}


def test_own_photos_with_captions_are_offered(own_home, tmp_path):
    folder = tmp_path / "mine"
    write_table(folder, write_photos(folder))
    own = Library(str(folder)).own_datasets
    with gr.Blocks():
        panel = PlanPanel(gr.HTML(render=False), own)
    assert str(folder) in [value for _, value in panel.dataset.choices]
    request = Request("bow/lesson", str(folder), "", board=False)
    assert panel.spec(request).dataset == str(folder)
    *_, last = panel.preview("bow/lesson", str(folder), "", False, ())
    (checks,) = last.values()
    assert "pictures for training and validation" in checks
    assert "its figures are rough" in checks
    write_table(folder, {"001.png": "A bar."})
    *_, last = panel.preview("bow/lesson", str(folder), "", False, ())
    (checks,) = last.values()
    assert "too few photos with captions" in checks


def test_own_photos_are_not_offered_without_captions_or_on_a_public_server(
    own_home, tmp_path, monkeypatch
):
    folder = tmp_path / "mine"
    captions = write_photos(folder, 9)
    assert Library(str(folder)).own_datasets() == []
    write_table(folder, captions)
    assert Library(str(folder)).own_datasets() == [str(folder)]
    Catalog.create("index", folder)
    monkeypatch.setenv("GRADIO_SHARE", "1")
    library = Library(str(folder))
    assert library.own_datasets() == []
    with gr.Blocks():
        panel = PlanPanel(gr.HTML(render=False), library.own_datasets)
    with pytest.raises(UserError, match="trains on"):
        panel.spec(Request("bow/lesson", str(folder), "", board=False))


def test_a_choice_that_is_reported_twice_changes_the_form_once():
    with gr.Blocks():
        panel = PlanPanel(gr.HTML(render=False))
    choices = ("gru", "storybook", "one red bar", False)
    first = merged(panel.choose([("bow/lesson", "storybook")], *choices))
    assert "value" not in first[panel.sentence]  # what is typed meanwhile is not replaced
    assert ("gru", "storybook") in first[panel.reported]
    assert list(panel.choose(first[panel.reported], *choices)) == []
    choices = ("gru", "wordnet", "", False)  # after a preset that learns from WordNet
    first = merged(panel.choose([("hypernyms", "storybook")], *choices))
    shown = first[panel.dataset]["value"]
    assert shown != "wordnet"
    assert first[panel.sentence]["value"] == first_sentence(shown)
    assert list(panel.choose(first[panel.reported], *choices)) == []
    # Gradio reports a dropdown that loses the focus, with the data set that the page shows now.
    assert list(panel.choose(first[panel.reported], "gru", shown, "", False)) == []


def test_a_slow_second_report_does_not_undo_what_was_typed(visit, monkeypatch):
    page = visit(path="?tab=train")
    command, sentence = page.locator("#command"), page.get_by_label("A sentence to watch")
    expect(command).to_contain_text("train bow/lesson")
    make_form, reports = form.form, count()

    def slow_form(*args):
        time.sleep(0.5 + next(reports))
        return make_form(*args)

    monkeypatch.setattr(form, "form", slow_form)
    choose(page, "Preset", "gru")
    expect(command).to_contain_text("train gru ")
    sentence.fill("one red bar")
    page.wait_for_timeout(1500)
    sentence.press("Tab")
    expect(command).to_contain_text("--watch=one red bar")
    expect(sentence).to_have_value("one red bar")


def test_a_public_server_shows_no_photos_of_a_run_on_others(own_home, tmp_path, monkeypatch):
    for name in ("shown", "hidden"):
        write_table(tmp_path / name, write_photos(tmp_path / name))
    monkeypatch.setenv("GRADIO_SHARE", "1")
    library = Library(str(tmp_path / "shown"))
    assert library.dev(str(tmp_path / "shown"))
    assert library.dev(str(tmp_path / "hidden")) is None
    monkeypatch.delenv("GRADIO_SHARE")
    assert Library().dev(str(tmp_path / "hidden"))
