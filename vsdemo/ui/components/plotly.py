"""A widget that plotly draws in the page."""

from __future__ import annotations

from html import escape
from pathlib import Path
from urllib.parse import quote

import gradio as gr

from vsdemo.plots.embedding_map import SCRIPT

HERE = Path(__file__).parent


def plotly_widget(draw: Path, inside: str, says: str, name: str | None) -> gr.HTML:
    """A frame around the HTML inside, which the script `draw` fills, after plotly.js; its class is
    the name of that script.

    says: what it is, for who cannot see it. Plotly's script comes from its installed package,
    once something is drawn.
    """
    gr.set_static_paths([SCRIPT])
    script = f"gradio_api/file={quote(SCRIPT.as_posix())}"  # relative: any root path will do
    code = [file.read_text(encoding="utf-8") for file in (HERE / "plotly.js", draw)]
    return gr.HTML(
        "",
        html_template=f'<div class="{draw.stem}" role="region" aria-label="{escape(says)}" '
        f'data-script="{script}">{inside}</div>',
        js_on_load="".join(code),
        elem_id=name,
    )
