"""A text that arrives after its field can be typed in, such as the first example of a tab."""

from __future__ import annotations

from itertools import count

import gradio as gr

from vsdemo.ui.callbacks import QUIET, Update, Updates

NUMBERS = count()  # so that each text is a change


class LateText:
    """Fills a text into a field unless a visitor has typed there meanwhile.

    Args:
        field: The field.
    """

    def __init__(self, field: gr.Textbox) -> None:
        self.field = field
        self.state = gr.State(None)  # number, what the page showed before, and the text
        self.filled = gr.State("")  # the last text that was filled in

    def connect(self) -> None:
        """Fill in a text when it arrives: into the field as it is then."""
        inputs, outputs = [self.state, self.field, self.filled], [self.field, self.filled]
        self.state.change(self.fill, inputs, outputs, **QUIET)

    def defer(self, update: Update, before: str) -> Update:
        """Return an update that fills in its text for the field only if nobody has typed there.

        Args:
            update: The update, with a text for the field or without.
            before: What the page has shown in the field until now.
        """
        if self.field not in update:
            return update
        others = {widget: value for widget, value in update.items() if widget != self.field}
        return {**others, self.state: (next(NUMBERS), before, update[self.field])}

    def fill(self, late: tuple[int, str, str] | None, typed: str, filled: str) -> Updates:
        """Fill in the text, or leave what was typed."""
        if late is None or typed not in (late[1], filled):
            yield {self.field: gr.skip()}
        else:
            yield {self.field: late[2], self.filled: late[2]}
