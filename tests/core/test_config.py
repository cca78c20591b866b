import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo import models
from vsdemo.core.config import GROUPS, OWN, Config, describe, from_dict, groups, option, override
from vsdemo.core.errors import UserError

FIELDS = {f.name: f for f in dataclasses.fields(Config)}


@dataclasses.dataclass(frozen=True)
class Toy(Config):
    both: bool = option(True, "ways")


def test_settings_change_only_what_they_name():
    config = override(Config(), ["epochs=7", "margin=0.5", "sampling=all"])
    assert config == dataclasses.replace(Config(), epochs=7, margin=0.5, sampling="all")
    assert override(Config(), ["epochs=7", "epochs=8"]).epochs == 8
    assert override(Toy(), ["both=false"]).both is False
    assert override(Config(), []) == Config()


def test_an_unknown_key_lists_the_valid_ones():
    with pytest.raises(UserError, match=r"'epoch'; valid are .*batch_size.*epochs"):
        override(Config(), ["epoch=3"])
    with pytest.raises(UserError, match="epoch"):
        from_dict(Config, {"epoch": 3})


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("epochs", "key=value"),
        ("epochs=", "epochs takes int"),
        ("epochs=2.5", "epochs takes int"),
        ("epochs=-1", "epochs takes a number from 1"),
        ("margin=nan", "margin takes a number"),
        ("margin=1e999", "margin takes a number"),
        ("margin=-0.1", "margin takes a number from 0"),
        ("sampling=two", "sampling is one of one, all"),
        ("both=perhaps", "both takes bool"),
        ("seed=" + "9" * 400, "seed takes a number"),
        ("seed=" + "9" * 20, "seed takes a number"),
        ("hardest=1.5", "hardest takes a number from 0 to 1,"),
        *(
            (f"{key}=0", f"{key} takes a number from 1")
            for key in (
                "epochs",
                "evaluate_every",
                "patience",
                "cycle_epochs",
            )
        ),
    ],
)
def test_a_value_that_does_not_fit_is_told_in_one_sentence(setting, why):
    with pytest.raises(UserError, match=why) as error:
        override(Toy(), [setting])
    assert str(error.value).endswith(".")


@given(st.sampled_from(sorted(FIELDS)), st.text() | st.integers().map(str) | st.floats().map(str))
def test_any_value_is_taken_as_its_type_or_refused(key, text):
    try:
        value = getattr(override(Config(), [f"{key}={text}"]), key)
    except UserError:
        return
    field = FIELDS[key]
    assert type(value) is type(field.default)
    assert value in (field.metadata["choices"] or [value])
    assert isinstance(value, str) or value >= 0


@given(st.text())
def test_any_text_as_a_setting_is_applied_or_refused(text):
    try:
        override(Config(), [text])
    except UserError:
        return
    assert text.partition("=")[0] in FIELDS


@given(st.integers(2, 1000), st.floats(0, 1), st.sampled_from(["one", "all"]))
def test_a_configuration_survives_json(batch_size, margin, sampling):
    settings = [f"batch_size={batch_size}", f"margin={margin}", f"sampling={sampling}"]
    config = override(Config(), settings)
    assert from_dict(Config, json.loads(json.dumps(dataclasses.asdict(config)))) == config


def test_describe_names_every_setting_in_the_form_that_override_takes():
    assert override(Config(), describe(Config()).split()) == Config()
    assert override(Config(), describe(Config(epochs=3)).split()).epochs == 3


def test_every_field_carries_help():
    for field in FIELDS.values():
        assert field.metadata["help"].strip(), field.name
        assert field.default in (field.metadata["choices"] or [field.default])


@pytest.mark.parametrize("preset", models.presets())
def test_groups_hold_every_field_once_and_the_models_own_first(preset):
    _, config = models.preset(preset)
    found = groups(config)
    names = [f.name for fields in found.values() for f in fields]
    assert sorted(names) == sorted(f.name for f in dataclasses.fields(config))
    assert list(found) == [OWN, *GROUPS]
    assert {f.name for f in found[OWN]} == set(names) - set(FIELDS)


def test_each_shared_field_is_in_one_group():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(FIELDS)
    assert list(groups(Config())) == list(GROUPS)
