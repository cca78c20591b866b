"""Download one file, with retries; a partial download is kept in a `.part` file and resumed.

A `.version` file next to it contains the version that the server names (ETag or Last-Modified), so
that bytes of two versions are never joined.
"""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from threading import Event
from typing import NoReturn, cast
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, build_opener

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.progress import Progress

CHUNK = 1 << 18  # bytes that are read between two calls of `progress`
TIMEOUT = 20  # seconds without a byte
PAUSES = (0.5, 1, 2)  # seconds before retries; they start again after any byte has arrived
RETRIED = {408, 425, 429, 500, 502, 503, 504}  # status codes
PARTIAL_CONTENT, RANGE_NOT_SATISFIABLE = 206, 416
STOPPED = "Stopped; what has been downloaded is kept, and the next fetch resumes from there."


class _ConnectionFailed(Exception):
    """Another attempt may succeed."""


def format_size(size: int) -> str:
    """Format a number of bytes: 1.1 GB, 57 MB, 3 kB."""
    if size >= 999_500_000:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.0f} MB" if size >= 999_500 else f"{size / 1e3:.0f} kB"


def bytes_on_disk(path: Path) -> int:
    """Return how much of the file that `download` writes to `path` exists already."""
    for file in (path, _part(path)):
        with suppress(FileNotFoundError):
            return file.stat().st_size
    return 0


def download(url: str, path: Path, progress: Progress, cancel: Event, *, limit: int) -> None:
    """Download a file, resuming an earlier, even a killed, call.

    Proxies are those of the environment.

    Args:
        url: The file's address.
        path: Where to write it.
        progress: Called with bytes; the total is 0 if the server does not name it.
        cancel: Set it to stop.
        limit: The most bytes that the file may have; a larger one is not downloaded.

    Raises:
        Cancelled: `cancel` is set.
        UserError: The server cannot be reached or refuses the file, or the file is too large.
        OSError: The file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    pauses = iter(PAUSES)
    while True:
        before = bytes_on_disk(path)
        try:
            _continue(url, path, progress, cancel, limit)
            break
        except _ConnectionFailed as error:
            if bytes_on_disk(path) > before:
                pauses = iter(PAUSES)
            pause = next(pauses, None)
            if pause is None:
                raise UserError(_failure(url, path, str(error))) from None
            if cancel.wait(pause):
                raise Cancelled(STOPPED) from None
    _part(path).replace(path)
    _version_file(path).unlink(missing_ok=True)


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _version_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.version")


def _failure(url: str, path: Path, reason: str) -> str:
    size = bytes_on_disk(path)
    kept = f"; the {format_size(size)} downloaded so far are kept" if size else ""
    return (
        f"{path.name} could not be fetched from {urlsplit(url).hostname} ({reason}){kept}; "
        "fetch again when it can be reached."
    )


def _continue(url: str, path: Path, progress: Progress, cancel: Event, limit: int) -> None:
    """Append to the part file until it is complete."""
    response = _request(url, path)
    if response is None:
        return
    with response, _part(path).open("ab") as file:
        done, total = file.tell(), _total(response)
        _check_size(url, path, total, limit)
        progress(done, total)
        while not total or done < total:
            if cancel.is_set():
                raise Cancelled(STOPPED)
            # Without a stated size, one byte beyond the limit is read, to notice a larger file.
            chunk = _read(response, min(CHUNK, (total or limit + 1) - done))
            if not chunk:
                break
            _check_size(url, path, done + len(chunk), limit)
            file.write(chunk)
            done += len(chunk)
            progress(done, total)
    if done < total:
        raise _ConnectionFailed("the connection ended early")


def _check_size(url: str, path: Path, size: int, limit: int) -> None:
    """Delete the part file and raise UserError if the file is larger than the limit."""
    if size > limit:
        _part(path).unlink(missing_ok=True)
        _version_file(path).unlink(missing_ok=True)
        raise UserError(
            f"{url} is larger than the expected {format_size(limit)}, so the download was stopped "
            "and deleted; fetch it later, or get the file in another way."
        )


def _request(url: str, path: Path) -> HTTPResponse | None:
    """Return the response from the end of the part file on; None if the part is complete."""
    part, version_file = _part(path), _version_file(path)
    resumable = part.exists() and version_file.exists()
    version = version_file.read_text(encoding="utf-8") if resumable else ""
    start = part.stat().st_size if version else 0
    headers = {"User-Agent": "vsdemo", "Accept-Encoding": "identity"}
    if start:
        headers |= {"Range": f"bytes={start}-", "If-Range": version}
    try:
        opened = build_opener().open(Request(url, headers=headers), timeout=TIMEOUT)
        response = cast(HTTPResponse, opened)
    except HTTPError as error:
        with error:
            complete = error.headers.get("Content-Range") == f"bytes */{start}"
            if error.code == RANGE_NOT_SATISFIABLE and complete:
                return None
            _raise_refusal(url, error, part)
    except (OSError, HTTPException) as error:
        raise _ConnectionFailed(_reason(error)) from None
    if response.status != PARTIAL_CONTENT:
        part.unlink(missing_ok=True)
        version_file.write_text(_version(response), encoding="utf-8")
    elif _start(response) != start or _version(response) not in ("", version):
        with response:
            part.unlink()
        raise _ConnectionFailed("the file on the server has changed")
    return response


def _raise_refusal(url: str, error: HTTPError, part: Path) -> NoReturn:
    status = f"{error.code} {error.reason}".strip()
    if error.code == RANGE_NOT_SATISFIABLE:  # the part is longer than the file
        part.unlink()
    elif error.code not in RETRIED:
        raise UserError(f"{url} cannot be fetched; its server answers {status}.") from None
    raise _ConnectionFailed(f"it answers {status}") from None


def _read(response: HTTPResponse, size: int) -> bytes:
    try:
        return response.read1(size)
    except (OSError, HTTPException) as error:
        raise _ConnectionFailed(_reason(error)) from None


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return " ".join(str(text).split())


def _version(response: HTTPResponse) -> str:
    """Return what identifies the file's version in If-Range, which excludes weak ETags."""
    tag = response.headers.get("ETag", "")
    return tag if tag.startswith('"') else response.headers.get("Last-Modified", "")


def _start(response: HTTPResponse) -> int:
    """Return the first byte of a partial response, such as 5 for `bytes 5-9/10`."""
    first = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(first) if first.isdecimal() else -1


def _total(response: HTTPResponse) -> int:
    """Return the size of the complete file; 0 if the server does not name it."""
    header = "Content-Range" if response.status == PARTIAL_CONTENT else "Content-Length"
    size = response.headers.get(header, "").rpartition("/")[2]
    return int(size) if size.isdecimal() else 0
