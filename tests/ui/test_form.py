"""The form of a preset: its HTML, and what the app takes from it."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import Annotated

import gradio as gr
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from vsdemo import models
from vsdemo.core.config import Config, OneOf, override, settings_of
from vsdemo.core.errors import UserError
from vsdemo.ui.training import form as module
from vsdemo.ui.training.form import BASIC, available_networks, form, settings

PRESETS = {name: config for name, (_, config) in models.presets().items()}
EVIL = '"><script>alert(1)</script>'


class Free(Config):
    """With a field of each kind."""

    words: Annotated[str, Field(description="free text")] = "a dog"
    lowest: Annotated[float, Field(ge=-1.0, le=1e9, description="may be negative")] = -1.0
    yes: Annotated[bool, Field(description="a question")] = True


class Evil(Config):
    """With markup in descriptions, choices and values."""

    words: Annotated[str, Field(description=EVIL)] = EVIL
    few: Annotated[str, OneOf((EVIL, "a")), Field(description=EVIL)] = EVIL


class Inputs(HTMLParser):
    """Attributes of the widgets of a form by name, and the choices of those that have some."""

    def __init__(self, html):
        super().__init__()
        self.found, self.choices, self.tags = {}, {}, []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append((tag, values))
        if tag in ("input", "select"):
            self.name = values["name"]
            assert self.name not in self.found
            self.found[self.name], self.choices[self.name] = {**values, "tag": tag}, []
        elif tag == "option":
            self.choices[self.name].append(values["value"])


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def event(data):
    return gr.EventData(None, data)


def told(config, **changes):
    return settings(event({"settings": changes}), config)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_field_is_there_once_with_its_help_and_default(preset):
    config = PRESETS[preset]
    html = form(config)
    plain, read = unescape(re.sub("</?code>", "", html)), Inputs(html)
    assert set(read.found) == set(settings_of(config))
    ids = [values["id"] for _, values in read.tags if "id" in values]
    assert len(ids) == len(set(ids))
    labels = {values["for"] for tag, values in read.tags if tag == "label"}
    for field in settings_of(config).values():
        widget, value = read.found[field.name], text(getattr(config, field.name))
        assert widget["id"] in labels
        assert set(widget["aria-describedby"].split()) <= set(ids)
        assert widget["data-default"] == value
        assert f'<span id="default-{field.name}">default {value}</span>' in html
        assert f">{field.description.replace('`', '')}<" in plain
    first = html.partition("<details")[0]
    assert set(Inputs(first).found) == set(BASIC) & set(read.found)


def partner(config, name, value):
    """The setting that must change with this one: a loss fits one kind of material."""
    if len(settings_of(config)["material"].choices) == 1:
        return {}
    if name == "material":
        losses = {"photos": "ranking", "sentence_pairs": "entailment"}
        return {"loss": losses[value]} if value in losses else {}
    if name == "loss" and value in ("ranking", "squared", "entailment"):
        return {"material": "sentence_pairs" if value == "entailment" else "photos"}
    return {}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_widget_takes_what_override_takes(preset):
    config = PRESETS[preset]
    read = Inputs(form(config))
    for field in settings_of(config).values():
        widget, name = read.found[field.name], field.name
        if choices := read.choices[name]:
            tried = choices
            assert text(getattr(config, name)) in choices
            assert ("disabled" in widget) == (len(choices) == 1)
        elif widget["type"] == "checkbox":
            tried = ["true", "false"]
            assert ("checked" in widget) == getattr(config, name)
        else:
            assert widget["type"] == "number"
            assert widget["step"] == ("1" if field.kind is int else "any")
            assert widget["value"] == str(getattr(config, name))
            tried = [widget["min"], widget["max"], widget["value"]]
        for value in tried:
            changes = {name: value, **partner(config, name, value)}
            settings = [f"{key}={value}" for key, value in changes.items()]
            parsed = override(config, told(config, **changes) or settings)
            assert getattr(parsed, name) == getattr(override(config, settings), name)


def test_each_preset_is_known_from_all_others():
    own = {re.search('data-own="([^"]*)"', form(config))[1] for config in PRESETS.values()}
    assert len(own) == len(PRESETS)


def test_markup_in_names_and_values_is_text():
    html = form(Evil(backbone=EVIL))
    assert "<script" not in html
    read = Inputs(html)
    assert read.found["words"]["value"] == EVIL
    assert EVIL in read.choices["few"]
    assert EVIL in read.choices["backbone"]


def test_kinds_of_fields_have_their_widgets():
    read = Inputs(form(Free(), basic=("words", "dim")))
    assert read.found["words"]["type"] == "text"
    assert read.found["lowest"]["min"] == "-1.0"
    assert read.found["yes"]["type"] == "checkbox"
    assert told(Free(), words="a = b", lowest="-0.5", yes="false") == [
        *("words=a = b", "lowest=-0.5", "yes=false")
    ]


def test_settings_are_plainly_spelt_and_what_is_the_default_is_left_out():
    config = PRESETS["gru"]
    changes = {"epochs": " 1_0 ", "margin": "5e-2", "evaluate_sts": "TRUE", "dropout": "0.20"}
    assert told(config, **changes) == ["epochs=10", "margin=0.05", "evaluate_sts=true"]
    assert told(config) == []
    assert told(PRESETS["bow/paper"], margin="3") == []  # the preset's, not the model's


def test_only_networks_that_are_here_are_offered_beside_the_presets_own(monkeypatch):
    available = ("pocket", "torchvision/vgg19")
    monkeypatch.setattr(module, "is_available", lambda name: name in available)
    config = PRESETS["gru"]
    assert available_networks(config) == ("torchvision/densenet169", "pocket", "torchvision/vgg19")
    assert module.MISSING in form(config)
    assert module.MISSING not in form(config.model_copy(update={"backbone": "pocket"}))
    assert module.MISSING not in form(PRESETS["hypernyms"])  # which has no photos
    assert told(config, backbone="pocket") == ["backbone=pocket"]
    own = config.model_copy(update={"backbone": "torchvision/alexnet"})
    assert available_networks(own)[0] == "torchvision/alexnet"


@pytest.mark.parametrize(
    "name",
    [
        *("torchvision/resnet152", "open_clip/RN50/random", "../../etc/passwd", "/etc/passwd"),
        *("torchvision/../../x", "torchvision/*", "", "pocket ", "Pocket"),
    ],
)
def test_no_other_image_network_is_taken(name, monkeypatch):
    monkeypatch.setattr(module, "is_available", lambda name: name == "pocket")
    with pytest.raises(UserError, match=r"backbone must be one of torchvision/densenet169, pocket"):
        told(PRESETS["gru"], backbone=name)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, "out of date"),
        ({}, "out of date"),
        ([], "out of date"),
        ({"settings": ["epochs=3"]}, "out of date"),
        ({"settings": {"epochs": 3}}, "out of date"),
        ({"settings": {3: "epochs"}}, "out of date"),
        ({"settings": {"epochs": "3\n"}}, "out of date"),
        ({"settings": {"epochs": "9" * 101}}, "out of date"),
        ({"settings": {str(i): "" for i in range(101)}}, "out of date"),
        ({"settings": {"epoch": "3"}}, "no setting 'epoch'"),
        ({"settings": {"backbone=/etc/passwd": ""}}, "no setting"),
        ({"settings": {"epochs=3 ": ""}}, "no setting"),
        ({"settings": {"epochs": ""}}, "epochs must be a whole number"),
        ({"settings": {"epochs": "0"}}, "epochs must be a whole number from 1"),
        ({"settings": {"pooling": "least"}}, "pooling must be one of"),
    ],
)
def test_what_the_form_does_not_send_is_refused_in_one_sentence(data, says):
    with pytest.raises(UserError, match=says) as error:
        settings(event(data), PRESETS["gru"])
    assert re.fullmatch(r"[^\n]+[^.]\.", str(error.value))


NAMES = st.sampled_from(list(settings_of(PRESETS["gru"]))) | st.text()
TEXTS = st.text() | st.integers().map(str) | st.floats().map(str) | st.sampled_from(["true", "all"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
)


@given(ANYTHING | st.fixed_dictionaries({"settings": ANYTHING | st.dictionaries(NAMES, TEXTS)}))
def test_whatever_is_told_gives_checked_settings_or_one_sentence(data):
    config = PRESETS["gru"]
    try:
        found = settings(event(data), config)
    except UserError:
        return
    assert all(isinstance(s, str) and s.isprintable() and "=" in s for s in found)
    changed = override(config, found)
    assert changed.backbone in available_networks(config)
    assert {s.partition("=")[0] for s in found} <= set(settings_of(config))
    assert (changed == config) == (not found)
