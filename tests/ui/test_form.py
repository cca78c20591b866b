"""The form of a preset: its HTML, and the settings the app accepts from it."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import Annotated

import gradio as gr
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from tests.support.hostile import HOSTILE, check_escaped
from vsdemo import models
from vsdemo.core.config import Config, OneOf, override, settings_of
from vsdemo.core.errors import UserError
from vsdemo.ui.library import models as library
from vsdemo.ui.training import form as module
from vsdemo.ui.training.form import BASIC, available_networks, form, settings

PRESETS = {name: config for name, (_, config) in models.presets().items()}
FIRST_OF_CLASS = {type(config): config for config in reversed(PRESETS.values())}.values()


class Free(Config):
    """A configuration with a field of each kind."""

    words: Annotated[str, Field(description="free text")] = "a dog"
    lowest: Annotated[float, Field(ge=-1.0, le=1e9, description="may be negative")] = -1.0
    yes: Annotated[bool, Field(description="a question")] = True


def hostile_form(text):
    """Return a form with this text in descriptions, choices and values."""
    about = text.replace("`", "")  # backticks mark code in descriptions

    class Hostile(Config):
        words: Annotated[str, Field(description=about)] = text
        few: Annotated[str, OneOf((text, "a")), Field(description=about)] = text

    return form(Hostile(backbone=text))


class Inputs(HTMLParser):
    """The attributes of the inputs of a form by name, and their choices."""

    def __init__(self, html):
        super().__init__()
        self.by_name, self.choices, self.tags = {}, {}, []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append((tag, values))
        if tag in ("input", "select"):
            self.name = values["name"]
            assert self.name not in self.by_name
            self.by_name[self.name], self.choices[self.name] = {**values, "tag": tag}, []
        elif tag == "option":
            self.choices[self.name].append(values["value"])


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def event(data):
    return gr.EventData(None, data)


def parse(config, **changes):
    return settings(event({"settings": changes}), config)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_field_appears_once_with_its_help_and_default(preset):
    config = PRESETS[preset]
    html = form(config)
    plain, inputs = unescape(re.sub("</?code>", "", html)), Inputs(html)
    assert set(inputs.by_name) == set(settings_of(config))
    ids = [values["id"] for _, values in inputs.tags if "id" in values]
    assert len(ids) == len(set(ids))
    labels = {values["for"] for tag, values in inputs.tags if tag == "label"}
    for field in settings_of(config).values():
        widget, value = inputs.by_name[field.name], text(getattr(config, field.name))
        assert widget["id"] in labels
        assert set(widget["aria-describedby"].split()) <= set(ids)
        assert widget["data-default"] == value
        assert f'<span id="default-{field.name}">default {value or "empty"}</span>' in html
        assert f">{field.description.replace('`', '')}<" in plain
    first = html.partition("<details")[0]
    assert set(Inputs(first).by_name) == set(BASIC) & set(inputs.by_name)


def partner(config, name, value):
    """The setting that must change with this one: a loss fits one kind of material."""
    if len(settings_of(config)["material"].choices) == 1:
        return {}
    if name == "material":
        losses = {"photos": "ranking", "relations": "ranking", "sentence_pairs": "entailment"}
        return {"loss": losses[value]} if value in losses else {}
    if name == "extra" and value != "none":
        return {"material": "photos", "loss": "ranking"}
    if name == "loss" and value in ("ranking", "softmax", "squared", "entailment"):
        return {"material": "sentence_pairs" if value == "entailment" else "photos"}
    return {}


@pytest.mark.parametrize("config", FIRST_OF_CLASS, ids=lambda config: type(config).__name__)
def test_inputs_accept_the_values_that_override_accepts(config, monkeypatch):
    offered = module.available(config)  # which looks at many files
    monkeypatch.setattr(module, "available", lambda config: offered)
    inputs = Inputs(form(config))
    for field in settings_of(config).values():
        widget, name = inputs.by_name[field.name], field.name
        if choices := inputs.choices[name]:
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
            parsed = override(config, parse(config, **changes) or settings)
            assert getattr(parsed, name) == getattr(override(config, settings), name)


def test_each_preset_has_its_own_key():
    keys = {re.search('data-preset="([^"]*)"', form(config))[1] for config in PRESETS.values()}
    assert len(keys) == len(PRESETS)


def test_descriptions_and_values_are_escaped():
    check_escaped(hostile_form)
    html = hostile_form(HOSTILE)
    assert html.count("onerror") == html.count("&lt;img src=x onerror")
    inputs = Inputs(html)
    assert inputs.by_name["words"]["value"] == HOSTILE
    assert HOSTILE in inputs.choices["few"]
    assert HOSTILE in inputs.choices["backbone"]


def test_each_kind_of_field_has_its_input():
    inputs = Inputs(form(Free(), basic=("words", "dim")))
    assert inputs.by_name["words"]["type"] == "text"
    assert inputs.by_name["lowest"]["min"] == "-1.0"
    assert inputs.by_name["yes"]["type"] == "checkbox"
    assert parse(Free(), words="a = b", lowest="-0.5", yes="false") == [
        *("words=a = b", "lowest=-0.5", "yes=false")
    ]


def test_settings_are_normalized_and_defaults_left_out():
    config = PRESETS["gru"]
    changes = {"epochs": " 1_0 ", "margin": "5e-2", "evaluate_sts": "TRUE", "dropout": "0.20"}
    assert parse(config, **changes) == ["epochs=10", "margin=0.05", "evaluate_sts=true"]
    assert parse(config) == []
    assert parse(PRESETS["bow/paper"], margin="3") == []  # the preset's, not the model's


def test_only_available_networks_are_offered_beside_the_default(monkeypatch):
    available = ("pocket", "torchvision/vgg19")
    monkeypatch.setattr(module, "is_available", lambda name: name in available)
    config = PRESETS["gru"]
    assert available_networks(config) == ("torchvision/densenet169", "pocket", "torchvision/vgg19")
    assert module.MISSING in form(config)
    assert module.MISSING not in form(config.model_copy(update={"backbone": "pocket"}))
    assert module.MISSING not in form(PRESETS["hypernyms"])  # which has no photos
    assert parse(config, backbone="pocket") == ["backbone=pocket"]
    own = config.model_copy(update={"backbone": "torchvision/alexnet"})
    assert available_networks(own)[0] == "torchvision/alexnet"


@pytest.mark.parametrize(
    "name",
    [
        *("torchvision/resnet152", "clip:RN50/random", "../../etc/passwd", "/etc/passwd"),
        *("torchvision/../../x", "torchvision/*", "", "pocket ", "Pocket"),
    ],
)
def test_other_image_networks_are_rejected(name, monkeypatch):
    monkeypatch.setattr(module, "is_available", lambda name: name == "pocket")
    with pytest.raises(UserError, match=r"backbone must be one of torchvision/densenet169, pocket"):
        parse(PRESETS["gru"], backbone=name)


def test_shipped_checkpoints_of_photos_are_offered_as_teachers(monkeypatch):
    teachers = Inputs(form(PRESETS["gru"])).choices["teacher"]
    assert teachers[0] == ""
    assert {"storybook/clip", "storybook/fragments"} <= set(teachers)
    assert "wordnet/order" not in teachers
    assert parse(PRESETS["gru"], teacher="storybook/clip") == ["teacher=storybook/clip"]
    assert Inputs(form(PRESETS["hypernyms"])).choices["teacher"] == [""]
    monkeypatch.setattr(library.features, "is_available", lambda backbone, crops: False)
    assert Inputs(form(PRESETS["gru"])).choices["teacher"] == [""]


@pytest.mark.parametrize("name", ["clip:ViT-B-32/openai", "hf://a/b", "/etc", "storybook", "x"])
def test_other_teachers_are_rejected(name):
    with pytest.raises(UserError, match=r"teacher must be one of empty, .*storybook/clip"):
        parse(PRESETS["gru"], teacher=name)
    with pytest.raises(UserError, match=r"teacher must be one of empty, not"):
        parse(PRESETS["kcca"], teacher=name)


@pytest.mark.parametrize(
    ("data", "message"),
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
def test_invalid_data_raises_an_error_of_one_sentence(data, message):
    with pytest.raises(UserError, match=message) as error:
        settings(event(data), PRESETS["gru"])
    assert re.fullmatch(r"[^\n]+[^.]\.", str(error.value))


NAMES = st.sampled_from(list(settings_of(PRESETS["gru"]))) | st.text()
TEXTS = st.text() | st.integers().map(str) | st.floats().map(str) | st.sampled_from(["true", "all"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
)


@given(ANYTHING | st.fixed_dictionaries({"settings": ANYTHING | st.dictionaries(NAMES, TEXTS)}))
def test_any_data_gives_valid_settings_or_an_error(data):
    config = PRESETS["gru"]
    try:
        result = settings(event(data), config)
    except UserError:
        return
    assert all(isinstance(s, str) and s.isprintable() and "=" in s for s in result)
    changed = override(config, result)
    assert changed.backbone in available_networks(config)
    assert {s.partition("=")[0] for s in result} <= set(settings_of(config))
    assert (changed == config) == (not result)
