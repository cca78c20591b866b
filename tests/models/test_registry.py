"""What the registry of models says about presets."""

import pytest

from vsdemo import models


@pytest.mark.parametrize("name", models.MODELS)
def test_kinds_are_about_presets_that_exist(name):
    model = models.get(name)
    assert set(model.kinds) <= set(model.presets)
    for preset in model.presets:
        assert model.kind_of(preset) == model.kinds.get(preset, model.kind)


def test_a_cosine_is_not_called_an_order():
    order = models.get("order")
    assert "no order" in order.kind_of("order/symmetric")
    assert "sentences stand above" in order.kind_of("order")
    assert "photos stand above" in order.kind_of("order/reversed")
