"""A page for callbacks and tabs that are used without a browser."""

import json
import re
from types import SimpleNamespace

import gradio as gr

from vsdemo.ui.components.widgets import address_html, programs_html
from vsdemo.ui.downloads import Downloads
from vsdemo.ui.library import Library
from vsdemo.ui.tabs import Context, Selection, Visit
from vsdemo.ui.uploads import Uploads

PAGE = SimpleNamespace(session_hash="page", cookies={}, headers={})  # in place of a gr.Request


def tab_of(kind, library=None):
    """Return a tab outside of a page."""
    with gr.Blocks():
        programs = programs_html()
        programs.render()
        library = library or Library()
        context = Context(
            library=library,
            model=gr.State(),
            gallery=gr.Dropdown(),
            k=gr.Slider(),
            selection=gr.State(Selection()),
            address=address_html(),
            programs=programs,
            tabs=gr.Tabs(),
            visits={kind.key: gr.State()},
            uploads=Uploads(),
            downloads=Downloads(library),
            fetched=gr.State(),
        )
        return kind(context)


def show(tab, visit, state=None, *values):
    """Return all updates of showing something in a tab, one after the other."""
    return list(tab.context.guard(tab)(tab.show)(PAGE, visit, state, *values))


def shown(tab, visit, state=None, *values):
    """Return what is on the page after something was shown in a tab."""
    page = merged(show(tab, visit, state, *values))
    late = getattr(tab, "late_text", None)
    if late and late.late in page:
        _, page[late.field], _ = json.loads(page[late.late])
    return page


def last(tab, callback, *inputs):
    """Return what is on the page after a callback."""
    return merged(tab.context.guard(tab)(callback)(PAGE, *inputs))


def merged(updates):
    """Return the values that widgets have after updates."""
    values = {}
    for update in updates:
        values |= {widget: value for widget, value in update.items() if value != gr.skip()}
    return values


def visit(model, gallery, text="", photo=None, upload=None, k=12, **other):
    """Return the visit of a tab with a selection."""
    selection = Selection(text, photo, gallery, upload, other=tuple(other.items()))
    return Visit(model, gallery, k, selection)


def english(value):
    """Return the English text of a widget's value."""
    text = str(value)
    return json.loads(text.removeprefix("__i18n__"))["key"] if "__i18n__" in text else text


def template_html(widget):
    """Return the English HTML of a widget's template."""
    return json.loads(widget.html_template[3:].removesuffix(")[vsdemo.language]}"))["en"]


def text(html):
    """Return the words of HTML, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", str(html))).strip()
