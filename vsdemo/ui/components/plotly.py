"""A component drawn by plotly in the browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import gradio as gr
from markupsafe import Markup

from vsdemo.core.language import translate
from vsdemo.plots.plotly_script import SCRIPT
from vsdemo.ui.components.labels import template
from vsdemo.ui.components.templates import render

HERE = Path(__file__).parent


def plotly_widget(
    script: Path, content: Callable[[], Markup], *, label: str, name: str | None
) -> gr.HTML:
    """Return a component with some HTML, drawn by a script that loads plotly.js on first use.

    Args:
        script: The drawing script. Its stem is the CSS class of the component.
        content: Returns the HTML in the current language.
        label: Name of the component for screen readers, in English.
        name: The component's elem_id.
    """
    gr.set_static_paths([SCRIPT])
    plotly_address = f"gradio_api/file={quote(SCRIPT.as_posix())}"  # relative, for any root path
    code = [file.read_text(encoding="utf-8") for file in (HERE / "plotly.js", script)]
    page = template(
        lambda: render(
            "components/plotly.html",
            kind=script.stem,
            label=translate(label),
            plotly=plotly_address,
            content=content(),
        )
    )
    return gr.HTML("", html_template=page, js_on_load="".join(code), elem_id=name)
