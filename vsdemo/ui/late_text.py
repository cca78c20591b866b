"""A text that arrives when a visitor may already be typing in its field, such as an example."""

from __future__ import annotations

import json
from itertools import count

import gradio as gr

from vsdemo.ui.callbacks import QUIET, Update

NUMBERS = count(1)  # so that each text is a change
# Only the page knows what is typed at this moment.
FILL = """(late, typed, handled) => {
  const [number, text, before] = JSON.parse(late);
  const filled = handled ? JSON.parse(handled)[1] : "";
  const shown = typed === before || typed === filled ? text : typed;
  return [shown, JSON.stringify([number, shown === text ? text : filled])];
}"""


class LateText:
    """Fills a text into a field unless a visitor has typed there meanwhile.

    Args:
        field: The field.

    Attributes:
        late: Holds a text that is to be filled in, with its number.
        handled: Holds the number of the last text that the page has filled in or left out, and the
            last one that it has filled in.
    """

    def __init__(self, field: gr.Textbox) -> None:
        self.field = field
        self.late = gr.Textbox(visible="hidden", container=False)
        self.handled = gr.Textbox(visible="hidden", container=False)

    def connect(self) -> None:
        """Fill in a text when it arrives."""
        inputs, outputs = [self.late, self.field, self.handled], [self.field, self.handled]
        self.late.change(None, inputs, outputs, js=FILL, **QUIET)

    def defer(self, update: Update, before: str, number: int | None = None) -> Update:
        """Return an update that fills in its text for the field only if nobody has typed there.

        Args:
            update: The update, with a text for the field or without.
            before: What the page has shown in the field until now.
            number: The number of the text; the next one of `NUMBERS` by default.
        """
        if self.field not in update:
            return update
        others = {widget: value for widget, value in update.items() if widget != self.field}
        number = next(NUMBERS) if number is None else number
        return {**others, self.late: json.dumps([number, update[self.field], before])}


def is_handled(handled: str, number: int) -> bool:
    """Whether the page has filled in, or left out, the text with a number.

    Args:
        handled: The value of `LateText.handled`; empty before the first text.
        number: The number of the text.
    """
    return bool(handled) and int(json.loads(handled)[0]) >= number
