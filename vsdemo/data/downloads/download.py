"""One file of the web, in as many goes as it takes: what has come stays in a `.part` file.

Beside it stands the file's version as the server names it (ETag or Last-Modified), so that bytes
of two versions are never joined.
"""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from threading import Event
from typing import NoReturn
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, build_opener

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.progress import Progress

CHUNK = 1 << 18  # bytes read at most before progress is told and a cancel is heard
TIMEOUT = 20  # seconds that may pass without a byte
PAUSES = (0.5, 1, 2)  # seconds before the next tries; counted anew when bytes have come
BUSY = {408, 425, 429, 500, 502, 503, 504}  # answers after which another try may help


STOPPED = "Stopped; what has been downloaded is kept, and the next fetch resumes from there."


class _Broken(Exception):
    """The connection failed; another try may help."""


def format_size(size: int) -> str:
    """A number of bytes as people say it: 1.1 GB, 57 MB, 3 kB."""
    if size >= 999_500_000:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.0f} MB" if size >= 999_500 else f"{size / 1e3:.0f} kB"


def here(path: Path) -> int:
    """Bytes that are here of the file that `download` brings to `path`, or has brought."""
    for file in (path, _part(path)):
        with suppress(FileNotFoundError):
            return file.stat().st_size
    return 0


def download(url: str, path: Path, progress: Progress, cancel: Event) -> None:
    """Brings a file of the web to `path`, going on where an earlier, even a killed, call ended.

    Proxies are those of the environment. Raises Cancelled once `cancel` is set, UserError when the
    web or its server is not to be had, and OSError when the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    pauses = iter(PAUSES)
    while True:
        before = here(path)
        try:
            _go_on(url, path, progress, cancel)
            break
        except _Broken as error:
            if here(path) > before:
                pauses = iter(PAUSES)
            pause = next(pauses, None)
            if pause is None:
                raise UserError(_failed(url, path, str(error))) from None
            if cancel.wait(pause):
                raise Cancelled(STOPPED) from None
    _part(path).replace(path)
    _version(path).unlink(missing_ok=True)


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _version(path: Path) -> Path:
    return path.with_name(f"{path.name}.version")


def _failed(url: str, path: Path, reason: str) -> str:
    kept = f"; the {format_size(n)} that have come are kept" if (n := here(path)) else ""
    return (
        f"{path.name} could not be fetched from {urlsplit(url).hostname} ({reason}){kept}; "
        "fetch again when it can be reached."
    )


def _go_on(url: str, path: Path, progress: Progress, cancel: Event) -> None:
    """Appends to the part until it is whole."""
    answer = _ask(url, path)
    if answer is None:
        return
    with answer, _part(path).open("ab") as file:
        done, total = file.tell(), _total(answer)
        progress(done, total)
        while not total or done < total:
            if cancel.is_set():
                raise Cancelled(STOPPED)
            if not (chunk := _read(answer, min(CHUNK, total - done) if total else CHUNK)):
                break
            file.write(chunk)
            done += len(chunk)
            progress(done, total)
    if done < total:
        raise _Broken("the connection ended early")


def _ask(url: str, path: Path) -> HTTPResponse | None:
    """The server's answer, which begins where the part ends; None when all of it is here."""
    part, version = _part(path), _version(path)
    known = version.read_text(encoding="utf-8") if part.exists() and version.exists() else ""
    have = part.stat().st_size if known else 0
    headers = {"User-Agent": "vsdemo", "Accept-Encoding": "identity"}
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": known}
    try:
        answer = build_opener().open(Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        with error:
            if error.code == 416 and error.headers.get("Content-Range") == f"bytes */{have}":
                return None
            _refused(url, error, part)
    except (OSError, HTTPException) as error:
        raise _Broken(_reason(error)) from None
    if answer.status != 206:
        part.unlink(missing_ok=True)
        version.write_text(_version_of(answer), encoding="utf-8")
    elif _begin(answer) != have or _version_of(answer) not in ("", known):
        with answer:
            part.unlink()
        raise _Broken("the file there has changed")
    return answer


def _refused(url: str, error: HTTPError, part: Path) -> NoReturn:
    told = f"{error.code} {error.reason}".strip()
    if error.code == 416:  # the part is longer than the file
        part.unlink()
    elif error.code not in BUSY:
        raise UserError(f"{url} cannot be fetched; its server answers {told}.") from None
    raise _Broken(f"it answers {told}") from None


def _read(answer: HTTPResponse, most: int) -> bytes:
    try:
        return answer.read1(most)
    except (OSError, HTTPException) as error:
        raise _Broken(_reason(error)) from None


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    told = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return " ".join(str(told).split())


def _version_of(answer: HTTPResponse) -> str:
    """What names the file's version for If-Range; a weak ETag does not."""
    tag = answer.headers.get("ETag", "")
    return tag if tag.startswith('"') else answer.headers.get("Last-Modified", "")


def _begin(answer: HTTPResponse) -> int:
    """The first byte of a part: 5 for `bytes 5-9/10`."""
    first = answer.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(first) if first.isdecimal() else -1


def _total(answer: HTTPResponse) -> int:
    """Bytes of the whole file; 0 when the server does not say."""
    name = "Content-Range" if answer.status == 206 else "Content-Length"
    whole = answer.headers.get(name, "").rpartition("/")[2]
    return int(whole) if whole.isdecimal() else 0
