"""What programs may call, through Gradio's client or plain HTTP."""

from __future__ import annotations

from typing import Any

import gradio as gr

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.search.engine import check_k
from vsdemo.ui.library import Library


def build(library: Library) -> None:
    """Adds the endpoint /search."""

    def search(sentence: str, model: str, gallery: str, k: float) -> list[dict[str, Any]]:
        """The k photos that a sentence describes best."""
        try:
            number, asked = check_k(k), Sentence.from_user(sentence)
            engine = library.loading(model, gallery).engine.result()
            hits = engine.search(asked.text, number)
        except UserError as error:
            raise gr.Error(str(error), print_exception=False) from None
        names = ("rank", "photo", "score", "fit")
        return [
            dict(zip(names, (h.rank, h.item, h.score, h.unit_score), strict=True)) for h in hits
        ]

    gr.api(search, api_name="search")
