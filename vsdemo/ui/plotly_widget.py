"""A widget that plotly draws in the page."""

from __future__ import annotations

from html import escape
from pathlib import Path
from urllib.parse import quote

import gradio as gr

from vsdemo.plots.map import SCRIPT

HERE = Path(__file__).parent


def plotly_widget(kind: str, inside: str, says: str, name: str | None) -> gr.HTML:
    """A frame of class `kind` around the HTML inside, which `kind`.js fills, after plotly.js.

    says: what it is, for who cannot see it. Plotly's script comes from its installed package,
    once something is drawn.
    """
    gr.set_static_paths([SCRIPT])
    script = f"gradio_api/file={quote(SCRIPT.as_posix())}"  # relative: any root path will do
    code = [(HERE / file).read_text(encoding="utf-8") for file in ("plotly.js", f"{kind}.js")]
    return gr.HTML(
        "",
        html_template=f'<div class="{kind}" role="region" aria-label="{escape(says)}" '
        f'data-script="{script}">{inside}</div>',
        js_on_load="".join(code),
        elem_id=name,
    )
