"""Limits of a public server, as its owner sets them."""

import pytest

from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.serving.limits import PREFIX, Limits, limits


@pytest.fixture(autouse=True)
def fresh():
    limits.cache_clear()
    yield
    limits.cache_clear()


def test_variables_set_limits(monkeypatch):
    monkeypatch.setenv("VSDEMO_UPLOAD_MINUTES", "0.5")
    monkeypatch.setenv("VSDEMO_QUEUE", "8")
    assert (limits().upload_minutes, limits().queue) == (0.5, 8)


@pytest.mark.parametrize("value", ["", "many", "-1", "0", "1e400", "nan"])
def test_a_wrong_value_is_named_in_one_sentence(monkeypatch, value):
    monkeypatch.setenv("VSDEMO_QUEUE", value)
    with pytest.raises(UserError, match=r"VSDEMO_QUEUE=.* is not valid"):
        limits()


def test_a_space_has_a_proxy(monkeypatch):
    assert limits().proxies == 0
    limits.cache_clear()
    monkeypatch.setenv("SPACE_ID", "a/b")
    assert limits().proxies == 1


def test_the_manual_has_every_limit_and_its_default():
    manual = (ROOT / "vsdemo" / "serving" / "README.md").read_text(encoding="utf-8")
    for name, field in Limits.model_fields.items():
        row = f"| `{PREFIX}{name.upper()}` | {field.description} | {field.default:,} |"
        assert row in manual
