"""What Gradio keeps for each page and request, for which it has no public functions."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from datetime import datetime
from types import SimpleNamespace

import gradio as gr
from gradio import queueing
from starlette.types import Scope

IDLE = 0.02  # seconds
log = logging.getLogger(__name__)


def poll_slowly(demo: gr.Blocks) -> None:
    """Let Gradio look at its queue less often.

    It does so a thousand times a second, which costs a tenth of a core that a training could use.
    """
    demo._queue.sleep_when_free = IDLE  # noqa: SLF001


def close_heartbeats(demo: gr.Blocks) -> None:
    """Keep pages from holding a connection to the server.

    Gradio keeps one open for each page, to notice when it is closed. A browser has six for all
    pages of a server, so the seventh page of a visitor would wait forever.
    """
    config = demo.get_config_file
    demo.get_config_file = lambda: {**config(), "connect_heartbeat": False}  # type: ignore[method-assign]


def log_briefly() -> None:
    """Let Gradio log a failed request by the kind of its error.

    It prints the traceback of every request that no page would send, and with it what the visitor
    has typed. Errors of vsdemo's own callbacks are logged where they happen.
    """
    queueing.traceback = SimpleNamespace(print_exc=_log_kind)  # type: ignore[assignment, attr-defined]


def _log_kind() -> None:
    log.warning("a request of a page failed: %s", type(sys.exception()).__name__)


def queued_scopes(demo: gr.Blocks) -> Iterator[Scope]:
    """Yield the scopes of the requests that wait in the queue."""
    for queue in [*demo._queue.event_queue_per_concurrency_id.values()]:  # noqa: SLF001
        for event in [*queue.queue]:
            yield event.request.scope


def release_unused_pages(demo: gr.Blocks, seconds: float) -> int:
    """Release the state of pages that were not used for a time, and return how many.

    Gradio itself keeps the state of a page that was closed without notice, and the results that
    nobody has read.
    """
    holder, queue, now = demo.state_holder, demo._queue, datetime.now()  # noqa: SLF001
    unused = [
        session
        for session, since in [*holder.time_last_used.items()]
        if (now - since).total_seconds() > seconds
    ]
    for session in unused:
        with holder.lock:
            holder.session_data.pop(session, None)
            holder.time_last_used.pop(session, None)
        for event in queue.pending_event_ids_session.pop(session, set()):
            queue.event_ids_to_events.pop(event, None)
        queue.pending_messages_per_session.pop(session, None)
    return len(unused)


def hide_statuses(demo: gr.Blocks) -> None:
    """Keep the browser from handing the status of a request to all widgets that it may change.

    None of our widgets shows one, but for each status the browser copies all properties of these
    widgets, which takes 100 ms after a click on a map.

    Args:
        demo: The page, still open, with all its listeners.
    """
    nowhere = gr.State()
    for function in demo.fns.values():
        function.show_progress_on = [nowhere]
