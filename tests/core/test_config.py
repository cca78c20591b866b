"""Configurations: overriding settings, their bounds, groups and JSON."""

import json
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from vsdemo import models
from vsdemo.core.config import (
    GROUPS,
    MODEL_GROUP,
    Config,
    describe,
    from_json,
    grouped_settings,
    override,
    settings_of,
    text_of,
)
from vsdemo.core.errors import UserError

SETTINGS = settings_of(Config())


class Toy(Config):
    both: Annotated[bool, Field(description="Both directions")] = True


def test_override_changes_only_the_named_settings():
    config = override(Config(), ["epochs=7", "margin=0.5", "sampling=all"])
    assert config == Config(epochs=7, margin=0.5, sampling="all")
    assert override(Config(), ["epochs=7", "epochs=8"]).epochs == 8
    assert override(Toy(), ["both=false"]).both is False
    assert override(Config(), []) == Config()


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValidationError):
        Config().epochs = 3
    assert hash(Config(epochs=3)) == hash(Config(epochs=3))
    assert Config(epochs=3) != Config()


def test_an_unknown_key_lists_the_valid_ones():
    with pytest.raises(UserError, match=r"'epoch'; valid settings are .*batch_size.*epochs"):
        override(Config(), ["epoch=3"])
    with pytest.raises(UserError, match=r"'epoch'; valid settings are .*batch_size.*epochs"):
        from_json(Config, {"epoch": 3})


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("epochs", "key=value"),
        ("epochs=", "epochs must be a whole number"),
        ("epochs=2.5", "epochs must be a whole number"),
        ("epochs=-1", "epochs must be a whole number from 1 to 1,000,000,000, not '-1'"),
        ("margin=nan", "margin must be a number"),
        ("margin=1e999", "margin must be a number"),
        ("margin=-0.1", "margin must be a number from 0"),
        ("sampling=two", "sampling must be one of one, all, not 'two'"),
        ("both=perhaps", "both must be true or false"),
        ("seed=" + "9" * 400, "seed must be a whole number"),
        ("seed=" + "9" * 20, "seed must be a whole number"),
        ("hardest=1.5", "hardest must be a number from 0 to 1,"),
        ("material=songs", "material must be one of photos"),
        ("epochs=0", "epochs must be a whole number from 1"),
        ("evaluate_every=0", "evaluate_every must be a whole number from 1"),
        ("patience=0", "patience must be a whole number from 1"),
        ("cycle_epochs=0", "cycle_epochs must be a whole number from 1"),
        ("teacher_temperature=0", "teacher_temperature must be a number from 0.001"),
    ],
)
def test_an_invalid_value_is_refused_in_one_sentence(setting, message):
    with pytest.raises(UserError, match=message) as error:
        override(Toy(), [setting])
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("preset", ["hypernyms", "order/entailment", "hierarchy", "kcca"])
def test_only_gradient_steps_over_photos_take_a_teacher(preset):
    config = models.preset(preset)[1]
    assert not config.takes_teacher
    with pytest.raises(UserError, match="take a teacher; leave teacher empty") as error:
        override(config, ["teacher=storybook/clip"])
    assert "\n" not in str(error.value)
    assert override(models.preset("order")[1], ["teacher=a"]).teacher == "a"


def test_the_highest_seed_has_32_bits():
    assert override(Toy(), [f"seed={2**32 - 1}"]).seed == 2**32 - 1
    with pytest.raises(UserError, match=f"seed must be .* to 4,294,967,295, not '{2**32}'"):
        override(Toy(), [f"seed={2**32}"])


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(UserError, match=f"not '{'x' * 78}'"):
        override(Toy(), ["sampling=" + "x" * 78])
    with pytest.raises(UserError, match=rf"not '{'x' * 76}\.\.\.\."):
        override(Toy(), ["sampling=" + "x" * 79])


@pytest.mark.parametrize(
    "values", [{"epochs": "3"}, {"epochs": 2.0}, {"both": 1}, {"epochs": True}, {"margin": None}]
)
def test_json_values_need_the_right_type(values):
    [key] = values
    with pytest.raises(UserError, match=f"{key} must be"):
        from_json(Toy, values)
    assert from_json(Toy, {"margin": 1}).margin == 1.0


@pytest.mark.parametrize("values", [5, [1], None, "epochs"])
def test_json_that_is_not_an_object_is_refused(values):
    with pytest.raises(UserError):
        from_json(Config, values)


@given(st.sampled_from(sorted(SETTINGS)), st.text() | st.integers().map(str) | st.floats().map(str))
def test_any_value_is_parsed_to_its_type_or_refused(key, text):
    try:
        value = getattr(override(Config(), [f"{key}={text}"]), key)
    except UserError:
        return
    setting = SETTINGS[key]
    assert type(value) is setting.kind is type(setting.value)
    assert value in (setting.choices or [value])
    assert isinstance(value, str) or setting.kind is bool or value >= 0


@given(st.text())
def test_any_text_as_a_setting_is_applied_or_refused(text):
    try:
        override(Config(), [text])
    except UserError:
        return
    assert text.partition("=")[0] in SETTINGS


@given(st.integers(2, 1000), st.floats(0, 1), st.sampled_from(["one", "all"]))
def test_a_configuration_survives_json(batch_size, margin, sampling):
    settings = [f"batch_size={batch_size}", f"margin={margin}", f"sampling={sampling}"]
    config = override(Config(), settings)
    assert from_json(Config, json.loads(json.dumps(config.model_dump()))) == config


def test_describe_lists_every_setting_as_override_accepts_it():
    assert override(Config(), describe(Config()).split()) == Config()
    assert override(Config(), describe(Config(epochs=3)).split()).epochs == 3
    assert describe(Toy()).endswith(" both=true")
    assert [text_of(value) for value in (True, 1.0, "a")] == ["true", "1.0", "a"]


@pytest.mark.parametrize("preset", models.presets())
def test_groups_hold_every_field_once_and_the_models_own_first(preset):
    _, config = models.preset(preset)
    groups = grouped_settings(config)
    names = [setting.name for group in groups.values() for setting in group]
    assert sorted(names) == sorted(settings_of(config))
    assert list(groups) == [MODEL_GROUP, *GROUPS]
    assert {setting.name for setting in groups[MODEL_GROUP]} == set(names) - set(SETTINGS)


def test_each_shared_field_is_in_one_group():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(SETTINGS)
    assert list(grouped_settings(Config())) == list(GROUPS)
