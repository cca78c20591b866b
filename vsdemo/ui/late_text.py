"""A text that arrives when a visitor may already be typing in its field, such as an example."""

from __future__ import annotations

import json
from itertools import count

import gradio as gr

from vsdemo.ui.callbacks import QUIET, Update

NUMBERS = count()  # so that each text is a change
# Only the page knows what is typed at this moment.
FILL = """(late, typed, filled) => {
  const [, text, before] = JSON.parse(late);
  return typed === before || typed === filled ? [text, text] : [typed, filled];
}"""


class LateText:
    """Fills a text into a field unless a visitor has typed there meanwhile.

    Args:
        field: The field.
    """

    def __init__(self, field: gr.Textbox) -> None:
        self.field = field
        self.late = gr.Textbox(visible="hidden", container=False)
        self.filled = gr.Textbox(visible="hidden", container=False)  # the last text

    def connect(self) -> None:
        """Fill in a text when it arrives."""
        inputs, outputs = [self.late, self.field, self.filled], [self.field, self.filled]
        self.late.change(None, inputs, outputs, js=FILL, **QUIET)

    def defer(self, update: Update, before: str) -> Update:
        """Return an update that fills in its text for the field only if nobody has typed there.

        Args:
            update: The update, with a text for the field or without.
            before: What the page has shown in the field until now.
        """
        if self.field not in update:
            return update
        others = {widget: value for widget, value in update.items() if widget != self.field}
        return {**others, self.late: json.dumps([next(NUMBERS), update[self.field], before])}
