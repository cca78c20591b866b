"""Sends the events of a page over HTTP, as a page does or as somebody who forges them."""

import json
import uuid

import httpx

from vsdemo.serving.visitors import COOKIE


class Visitor:
    """A visitor with a page of its own.

    Args:
        demo: The app that is served.
        url: Its address.
        has_cookie: Whether the visitor has the cookie of the page; else the page's session counts.
    """

    def __init__(self, demo, url: str, *, has_cookie: bool) -> None:
        self.demo = demo
        self.session = uuid.uuid4().hex[:10]
        self.http = httpx.Client(base_url=url, timeout=60)
        if has_cookie:
            self.http.get("")  # the page sets the cookie

    @property
    def token(self) -> str:
        """What tells this visitor from others."""
        return self.http.cookies.get(COOKIE) or self.session

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
