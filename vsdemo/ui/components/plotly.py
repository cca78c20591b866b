"""A widget that plotly draws."""

from __future__ import annotations

from html import escape
from pathlib import Path
from urllib.parse import quote

import gradio as gr

from vsdemo.plots.embedding_map import SCRIPT

HERE = Path(__file__).parent


def plotly_widget(draw: Path, inside: str, *, label: str, name: str | None) -> gr.HTML:
    """Return a widget around some HTML, drawn by a script that loads plotly.js first.

    Args:
        draw: The script. Its name is the widget's CSS class.
        inside: The HTML.
        label: What it is, for screen readers.
        name: The widget's elem_id.
    """
    gr.set_static_paths([SCRIPT])
    script = f"gradio_api/file={quote(SCRIPT.as_posix())}"  # relative, for any root path
    code = [file.read_text(encoding="utf-8") for file in (HERE / "plotly.js", draw)]
    return gr.HTML(
        "",
        html_template=f'<div class="{draw.stem}" role="region" aria-label="{escape(label)}" '
        f'data-script="{script}">{inside}</div>',
        js_on_load="".join(code),
        elem_id=name,
    )
