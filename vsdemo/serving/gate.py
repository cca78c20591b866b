"""The gate for every request: who sends it, whether it is allowed, and headers for browsers.

It stands between the server and Gradio. On a private machine it only guards uploads, sizes and
headers; on a public one also how much each visitor may use.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from math import ceil
from time import monotonic
from typing import Any
from urllib.parse import unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vsdemo.serving import headers as security
from vsdemo.serving import request_log, visitors
from vsdemo.serving.limits import Limits
from vsdemo.serving.rates import Rate
from vsdemo.serving.request_errors import RequestError, unexpected
from vsdemo.serving.uploads import UploadFolder

MB = 1_000_000
DAY = 24 * 3600.0  # seconds
GRADIO = "/gradio_api"
UPLOAD = f"{GRADIO}/upload"
JOIN = f"{GRADIO}/queue/join"
FILE = f"{GRADIO}/file="
COUNTED = (JOIN, f"{GRADIO}/call/", f"{GRADIO}/run/", f"{GRADIO}/api/", f"{GRADIO}/mcp", "/api/")
# Gradio would fetch addresses for visitors, and store the state of pages without a bound.
CLOSED = (f"{GRADIO}/proxy=", f"{GRADIO}/deep_link", f"{FILE}http:", f"{FILE}https:")
log = logging.getLogger(__name__)
VISITOR, ADDRESS = "vsdemo.visitor", "vsdemo.address"  # keys of a request's scope


class Gate:
    """The middleware.

    Args:
        limits: What visitors may use.
        uploads: The uploaded files.
        is_public: Whether visitors are strangers.
        queued: Returns the scopes of the requests that wait in Gradio's queue.
        head: HTML whose scripts Gradio adds to the page.

    Attributes:
        is_closing: Whether the server is stopping: it finishes requests, and begins none.
    """

    def __init__(
        self,
        *,
        limits: Limits,
        uploads: UploadFolder,
        is_public: bool,
        queued: Callable[[], Iterable[Scope]],
        head: str = "",
    ) -> None:
        self._limits, self._uploads = limits, uploads
        self._is_public, self._queued = is_public, queued
        self._visitor_rate = Rate(limits.minute_requests, 60)
        self._address_rate = Rate(limits.minute_address_requests, 60)
        self._upload_rate = Rate(limits.upload_day_mb * MB, DAY)
        self._active: Counter[str] = Counter()
        self.is_closing = False
        self._logs = request_log.is_enabled()
        self._head = head.encode()
        self._app: ASGIApp

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return an application behind this gate."""
        self._app = app
        return self

    @property
    def active(self) -> int:
        """How many requests are being answered or wait, apart from streams of events."""
        return self._active.total() + sum(1 for _ in self._queued())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with one sentence."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer, path = Answer(scope, send, self._head), path_of(scope)  # Gradio changes the scope
        started = monotonic()
        try:
            await self._answer(scope, receive, answer)
        except RequestError as refusal:
            await answer.refuse(refusal, receive)
        except Exception as error:
            # Such as a request that no page would send. Its traceback would log what was typed.
            log.warning("%s %s failed: %s", scope["method"], path, type(error).__name__)
            if not answer.is_begun:
                await answer.refuse(unexpected(), receive)
        finally:
            if self._logs:
                seconds = monotonic() - started
                request_log.write(
                    scope["method"],
                    path,
                    answer.status,
                    seconds=seconds,
                    sent=answer.sent,
                )

    async def _answer(self, scope: Scope, receive: Receive, answer: Answer) -> None:
        headers, path = Headers(scope=scope), path_of(scope)
        token = visitors.token_of(headers)
        scope[ADDRESS] = visitors.address_of(scope, headers, self._limits.proxies)
        scope[VISITOR] = token or scope[ADDRESS]
        if path.startswith(CLOSED):
            raise RequestError(
                "This address is not available.", code="not_found", status=HTTPStatus.NOT_FOUND
            )
        if path.startswith(FILE) and self._uploads.is_foreign(unquote(path[len(FILE) :]), token):
            raise foreign_file()
        if scope["method"] == "GET" and path in ("", "/") and token is None:
            answer.cookie = visitors.cookie(visitors.new_token(), scope.get("root_path", ""))
        if scope["method"] != "POST" and not path.startswith("/api/"):
            await self._app(scope, receive, answer.send)
            return
        if self.is_closing:
            raise RequestError(
                "The server is restarting; try again in a minute.",
                code="restarting",
                status=HTTPStatus.SERVICE_UNAVAILABLE,
                retry_after=30,
            )
        self._check_size(headers)
        if path == UPLOAD:
            await self._upload(scope, receive, answer, token)
            return
        with self._counted(scope, path):
            if "json" in headers.get("content-type", ""):
                receive = await self._read(receive, token)
            answer.hides_full_queue = path == JOIN
            await self._app(scope, receive, answer.send)

    def _check_size(self, headers: Headers) -> None:
        """Refuse a request that says that it is too large."""
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._limits.request_mb * MB:
            raise too_large(self._limits)

    async def _upload(
        self, scope: Scope, receive: Receive, answer: Answer, token: str | None
    ) -> None:
        """Let Gradio store files, then give each its own path."""
        length = Headers(scope=scope).get("content-length")
        if length is None:
            raise RequestError(
                "An upload needs a Content-Length header.",
                code="length_required",
                status=HTTPStatus.LENGTH_REQUIRED,
            )
        if self._is_public:
            wait = self._upload_rate.take(scope[ADDRESS], int(length))
            if wait:
                raise RequestError(
                    f"You have uploaded {self._limits.upload_day_mb} MB today; try again later.",
                    code="too_many_requests",
                    status=HTTPStatus.TOO_MANY_REQUESTS,
                    retry_after=wait,
                )
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._app(scope, counted(receive, int(length), self._limits), keep)
        body = b"".join(message.get("body", b"") for message in messages)
        if messages[0]["status"] == HTTPStatus.OK:
            paths = json.loads(body)
            claimed = [self._uploads.claim(path, token) for path in dict.fromkeys(paths)]
            if len(claimed) > self._limits.upload_files:
                self._uploads.discard(claimed)
                raise RequestError(
                    f"An upload has at most {self._limits.upload_files} files.",
                    code="too_large",
                    status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                )
            body = json.dumps(claimed).encode()
        start = {**messages[0], "headers": [*messages[0]["headers"]]}
        MutableHeaders(raw=start["headers"])["content-length"] = str(len(body))
        await answer.send(start)
        await answer.send({"type": "http.response.body", "body": body})

    @contextmanager
    def _counted(self, scope: Scope, path: str) -> Iterator[None]:
        """Count a request as long as it is answered. Refuse it if its visitor has too many."""
        if not path.startswith(COUNTED):
            yield
            return
        visitor, address = scope[VISITOR], scope[ADDRESS]
        if self._is_public:
            self._check_rates(visitor, address)
            self._check_queue(visitor, address)
        self._active[visitor] += 1
        try:
            yield
        finally:
            self._active[visitor] -= 1
            self._active += Counter()  # drops visitors without requests

    def _check_rates(self, visitor: str, address: str) -> None:
        for rate, name in ((self._visitor_rate, visitor), (self._address_rate, address)):
            if wait := rate.take(name):
                raise too_many(wait)

    def _check_queue(self, visitor: str, address: str) -> None:
        waiting = [*self._queued()]
        of_visitor = sum(scope.get(VISITOR) == visitor for scope in waiting)
        of_address = sum(scope.get(ADDRESS) == address for scope in waiting)
        active = self._active
        if (
            len(waiting) + active.total() >= self._limits.queue
            or of_visitor + active[visitor] >= self._limits.visitor_queue
            or of_address + active[address] >= self._limits.address_queue
        ):
            raise too_many(1)

    async def _read(self, receive: Receive, token: str | None) -> Receive:
        """Read the JSON of a request, check the files that it names, and return it for reading."""
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] != "http.request":  # the visitor has disconnected
                return receive
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._limits.request_mb * MB:
                raise too_large(self._limits)
            if not message.get("more_body"):
                break
        body = b"".join(parts)
        # Base64 has no backslash, with which a path could be hidden.
        if b"\\" in body or str(self._uploads.folder).encode() in body:
            for text in _texts(body):
                if self._uploads.is_foreign(text, token):
                    raise foreign_file()
        whole: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def replay() -> Message:
            nonlocal whole
            if whole is not None:
                message, whole = whole, None
                return message
            return await receive()

        return replay


class Answer:
    """The answer to a request, with the headers of every answer.

    Args:
        scope: Scope of the request.
        send: Sends a message to the visitor.
        head: HTML whose scripts Gradio adds to pages.

    Attributes:
        status: The HTTP status; 0 before it is known.
        sent: Bytes sent.
        is_begun: Whether a part of it was sent.
        cookie: A header that gives the visitor a token; empty for none.
        hides_full_queue: Whether a 503 of Gradio means that its queue is full.
    """

    def __init__(self, scope: Scope, send: Send, head: bytes) -> None:
        self._scope, self._send, self._head = scope, send, head
        self.status, self.sent, self.cookie, self.hides_full_queue = 0, 0, "", False
        self.is_begun = False
        self._start: Message | None = None  # of a page, until all of it is there
        self._page: list[bytes] = []

    async def send(self, message: Message) -> None:
        """Send a message of Gradio's answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self.hides_full_queue and self.status == HTTPStatus.SERVICE_UNAVAILABLE:
                raise too_many(1)
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            for name, value in security.HEADERS.items():
                headers.setdefault(name, value)
            if self.cookie:
                headers.append("set-cookie", self.cookie)
            if headers.get("content-type", "").startswith("text/html"):
                self._start = message
                return
            headers.setdefault("content-security-policy", security.NO_PAGE)
        elif self._start is not None:
            self._page.append(message.get("body", b""))
            if message.get("more_body"):
                return
            page, start = b"".join(self._page), self._start
            self._start = None
            policy = security.content_security_policy(page + self._head)
            MutableHeaders(raw=start["headers"])["content-security-policy"] = policy
            await self._send(start)
            message = {"type": "http.response.body", "body": page}
        self.is_begun = True
        self.sent += len(message.get("body", b""))
        await self._send(message)

    async def refuse(self, refusal: RequestError, receive: Receive) -> None:
        """Send one sentence instead."""
        self._start, self.hides_full_queue = None, False
        text = str(refusal)
        content = {"error": {"code": refusal.code, "message": text}, "detail": text}
        response = JSONResponse(content, status_code=refusal.status, headers=refusal.headers)
        await response(self._scope, receive, self.send)


def path_of(scope: Scope) -> str:
    """Return the path of a request below the root of the app."""
    path, root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    return path.removeprefix(root) if root else path


def counted(receive: Receive, length: int, limits: Limits) -> Receive:
    """Return a `receive` that refuses a request once it is longer than it has declared."""
    left = length

    async def count() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise too_large(limits)
        return message

    return count


def too_large(limits: Limits) -> RequestError:
    """Return the refusal of a request that is too large."""
    return RequestError(
        f"The request is too large; the limit is {limits.request_mb} MB.",
        code="too_large",
        status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    )


def too_many(wait: float) -> RequestError:
    """Return the refusal of a request of a visitor who has sent too many."""
    seconds = max(1, ceil(wait))
    return RequestError(
        f"Too many requests; try again in {seconds} s.",
        code="too_many_requests",
        status=HTTPStatus.TOO_MANY_REQUESTS,
        retry_after=seconds,
    )


def foreign_file() -> RequestError:
    """Return the refusal of a request that names the file of another visitor."""
    return RequestError(
        "You do not have access to this file; upload your own copy.",
        code="not_uploaded",
        status=HTTPStatus.FORBIDDEN,
    )


def _texts(body: bytes) -> Iterator[str]:
    """Yield every text in JSON; nothing if it is not valid, as Gradio then refuses it."""
    try:
        values: list[Any] = [json.loads(body)]
    except (ValueError, RecursionError):
        return
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            values.extend(value)
        elif isinstance(value, dict):
            values.extend([*value, *value.values()])
