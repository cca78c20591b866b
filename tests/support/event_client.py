"""Sends the events of a page over HTTP, as a page does or as somebody who forges them."""

import json
import uuid

import httpx


class Visitor:
    """A visitor with a page of its own.

    Args:
        app: The app that is served, with its address.
        token: The visitor's cookie; without one the page's session counts.
    """

    def __init__(self, demo, url: str, token: str | None = None) -> None:
        self.demo = demo
        self.session = uuid.uuid4().hex[:10]
        cookies = {"vsdemo_visitor": token} if token else {}
        self.http = httpx.Client(base_url=url, cookies=cookies, timeout=60)

    def send(self, callback: str, /, *values, widget: str = "", query: str = "", **event) -> str:
        """Send the event of a callback, and return all that the page gets, as JSON.

        Args:
            callback: Its name; of several, the last one counts.
            values: Its inputs; states are None.
            widget: elem_id of one of its outputs.
            query: The query of the page's address.
            event: Data of the event.
        """
        *_, index = (
            index
            for index, fn in self.demo.fns.items()
            if fn.name == callback and (not widget or widget in {o.elem_id for o in fn.outputs})
        )
        missing = len(self.demo.fns[index].inputs) - len(values)
        body = {
            "data": [*values, *[None] * missing],
            "fn_index": index,
            "session_hash": self.session,
            "event_data": event or None,
        }
        join = self.http.post(
            f"gradio_api/queue/join{query}",
            content=json.dumps(body),
            headers={"Content-Type": "application/json"},
        )
        join.raise_for_status()
        parts = []
        path = f"gradio_api/queue/data?session_hash={self.session}"
        with self.http.stream("GET", path) as stream:
            for line in stream.iter_lines():
                parts.append(line.removeprefix("data: "))
                if line.startswith("data: ") and (
                    json.loads(parts[-1])["msg"] in ("process_completed", "close_stream")
                ):
                    break
        return "\n".join(parts)
