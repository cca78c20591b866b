"""What programs may call, through Gradio's client or plain HTTP."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.events import api

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.search.engine import check_k
from vsdemo.ui.library import Library


def build(library: Library) -> None:
    """Add the endpoint /search."""

    def search(sentence: str, model: str, gallery: str, k: float) -> list[dict[str, Any]]:
        """Return the k photos that a sentence describes best.

        `score` is the model's own, `unit_score` the same mapped to 0..1.
        """
        try:
            count, text = check_k(k), Sentence.from_user(sentence).text
            hits = library.engine(model, gallery).result().search(text, count)
        except UserError as error:
            raise gr.Error(str(error), print_exception=False) from None
        return [
            {
                "rank": hit.rank,
                "photo": hit.item,
                "score": hit.score,
                "unit_score": hit.unit_score,
            }
            for hit in hits
        ]

    api(search, api_name="search")
