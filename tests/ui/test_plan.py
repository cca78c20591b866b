"""The widgets above the button Train."""

import gradio as gr

from vsdemo import models
from vsdemo.ui.training.plan import PlanPanel


def test_presets_of_another_package_are_offered(monkeypatch):
    monkeypatch.setattr(models, "MODELS", dict(models.MODELS))
    models.register("toy", "tests.support.toy_model:TOY")
    with gr.Blocks():
        presets = PlanPanel(gr.HTML(render=False)).preset
    assert {"toy", "toy/first_captions"} <= {value for _, value in presets.choices}
