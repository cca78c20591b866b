"""A component drawn by plotly in the browser."""

from __future__ import annotations

from html import escape
from pathlib import Path
from urllib.parse import quote

import gradio as gr

from vsdemo.plots.embedding_map import SCRIPT

HERE = Path(__file__).parent


def plotly_widget(script: Path, content: str, *, label: str, name: str | None) -> gr.HTML:
    """Return a component with some HTML, drawn by a script that loads plotly.js on first use.

    Args:
        script: The drawing script. Its stem is the CSS class of the component.
        content: The HTML.
        label: Name of the component for screen readers.
        name: The component's elem_id.
    """
    gr.set_static_paths([SCRIPT])
    plotly_address = f"gradio_api/file={quote(SCRIPT.as_posix())}"  # relative, for any root path
    code = [file.read_text(encoding="utf-8") for file in (HERE / "plotly.js", script)]
    return gr.HTML(
        "",
        html_template=f'<div class="{script.stem}" role="region" aria-label="{escape(label)}" '
        f'data-script="{plotly_address}">{content}</div>',
        js_on_load="".join(code),
        elem_id=name,
    )
