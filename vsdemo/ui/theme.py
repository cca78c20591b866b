"""Colours and sizes, once for light and once for dark, for the style sheets and Gradio's theme."""

from __future__ import annotations

import json
import re
from pathlib import Path

import gradio as gr
from markupsafe import Markup

from vsdemo.core import language
from vsdemo.ui.components.labels import in_each_language
from vsdemo.ui.components.templates import render

TOKENS = {  # name: (light, dark); text has a contrast of at least 4.5
    "paper": ("#faf8f4", "#161614"),
    "raised": ("#ffffff", "#201f1c"),
    "sunk": ("#efebe3", "#2b2a26"),
    "line": ("#dcd6ca", "#3a3833"),
    "ink": ("#24221e", "#ece8df"),
    "quiet": ("#67625a", "#a8a297"),
    "accent": ("#2f5d50", "#8fc7b3"),
    "on-accent": ("#ffffff", "#10201b"),
    "problem": ("#8a2c1d", "#f0a796"),
}
SANS = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Liberation Sans", "sans-serif")
MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Liberation Mono", "monospace")
HERE = Path(__file__).parent
SCRIPT_TEXT = re.compile(r'vsdemo\.translate\(\s*("(?:[^"\\]|\\.)*")')
STYLE_SHEETS = (
    "static/style.css",
    "programs/programs.css",
    "guide/guide.css",
    "models/models.css",
    "indexing/indexing.css",
    "components/words.css",
    "search/search.css",
    "search/results.css",
    "search/map.css",
    "alignment/align.css",
    "sentences/sentences.css",
    "compare/compare.css",
    "hierarchy/cones.css",
    "hierarchy/map.css",
    "hierarchy/hierarchy.css",
    "training/form.css",
    "training/curves.css",
    "training/training.css",
)
SCRIPTS = (
    "components/stream.js",
    "components/html.js",
    "components/language.js",
    "components/gestures.js",
    "guide/guide.js",
    "models/models.js",
    "search/results.js",
    "indexing/folders.js",
    "alignment/align.js",
    "compare/compare.js",
    "hierarchy/cones.js",
)


def _themed(**names: str) -> dict[str, str]:
    """Return Gradio's theme variables NAME and NAME_dark from token names."""
    light = {name: TOKENS[token][0] for name, token in names.items()}
    return light | {f"{name}_dark": TOKENS[token][1] for name, token in names.items()}


def theme() -> gr.themes.Base:
    """Return Gradio's plainest theme in the colours of TOKENS; no font is downloaded."""
    base = gr.themes.Base(font=SANS, font_mono=MONO, radius_size="sm", spacing_size="md")
    return base.set(
        **_themed(
            body_background_fill="paper",
            body_text_color="ink",
            body_text_color_subdued="quiet",
            background_fill_primary="raised",
            background_fill_secondary="paper",
            block_background_fill="raised",
            block_border_color="line",
            block_label_text_color="quiet",
            block_title_text_color="quiet",
            border_color_primary="line",
            color_accent_soft="sunk",
            input_background_fill="raised",
            input_border_color="line",
            input_border_color_focus="accent",
            input_placeholder_color="quiet",
            button_primary_background_fill="accent",
            button_primary_background_fill_hover="accent",
            button_primary_border_color="accent",
            button_primary_text_color="on-accent",
            button_secondary_background_fill="raised",
            button_secondary_background_fill_hover="sunk",
            button_secondary_border_color="line",
            button_secondary_text_color="ink",
            checkbox_background_color_selected="accent",
            checkbox_border_color_focus="accent",
            checkbox_border_color_selected="accent",
            slider_color="accent",
            link_text_color="accent",
            loader_color="accent",
        )
    )


def css() -> str:
    """Return the tokens as CSS variables, then the style sheets."""

    def variables(column: int) -> str:
        return "".join(f"--{name}:{pair[column]};" for name, pair in TOKENS.items())

    tokens = f":root{{{variables(0)}}}\n.dark{{{variables(1)}}}\n"
    return tokens + "".join((HERE / name).read_text(encoding="utf-8") for name in STYLE_SHEETS)


def head() -> str:
    """Return the icons and the scripts of the page, for its head."""
    scripts = [Markup((HERE / name).read_text(encoding="utf-8")) for name in SCRIPTS]
    return render(
        "page/head.html",
        scripts=scripts,
        translations=_translations(),
    )


def _translations() -> dict[str, dict[str, str]]:
    """Return the texts of all scripts in each language."""
    scripts = [path.read_text(encoding="utf-8") for path in HERE.glob("*/*.js")]
    texts = {json.loads(text) for script in scripts for text in SCRIPT_TEXT.findall(script)}
    return in_each_language(lambda: {text: language.translate(text) for text in sorted(texts)})
