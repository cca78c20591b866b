"""Load on a separate app: clients that send requests one after the other, on this machine."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from statistics import quantiles
from tempfile import TemporaryFile
from typing import IO, Any

import httpx
from pydantic import BaseModel, Field

from vsdemo.core import memory
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.core.progress import Progress
from vsdemo.data.examples import examples

SENTENCES = ("a dog runs", "a red car", "two people")  # for galleries without examples
START_SECONDS = 300.0
TIMEOUT = 60.0  # seconds; a longer request counts as an error
POLL = 0.2  # seconds
MINUTE = 60.0  # seconds
MB = 1e6
# Kind of request -> how often it is sent, of 100. A visitor searches and looks at the photos.
MIX = {"search": 60, "photo": 25, "similar": 5, "describe": 3, "parse": 4, "page": 3}


class LoadReport(BaseModel):
    """What clients have measured. Times are in seconds, memory is in MB.

    p50, p95 and p99 are those of searches.
    """

    clients: int
    seconds: float
    requests: int
    per_second: float
    errors: int
    first_error: str = ""
    p50: float
    p95: float
    p99: float
    rss_first: float = Field(description="Highest memory of the app in the first minute")
    rss_last: float = Field(description="Highest memory of the app in the last minute")
    kinds: dict[str, dict[str, float]] = Field(description="Requests, p50, p95 and p99 by kind")


@dataclass
class Measurements:
    """Times of answers by kind, errors, and the memory of the app over time."""

    times: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in MIX})
    errors: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)  # time, MB

    def peak(self, start: float, end: float) -> float:
        """Return the highest memory between two times."""
        return max((mb for when, mb in self.memory if start <= when <= end), default=0.0)


def measure(clients: int, seconds: float, progress: Progress | None = None) -> LoadReport:
    """Start an app with the default gallery and model, and load it.

    Args:
        clients: How many send requests at the same time.
        seconds: For how long.
        progress: Called with the seconds that have passed, and all.

    Raises:
        UserError: The app does not start.
    """
    with serve() as (pid, url):
        return asyncio.run(_load(url, pid, clients, seconds, progress))


@contextmanager
def serve() -> Iterator[tuple[int, str]]:
    """Run the app as a process, and yield its ID and address as soon as it can answer searches."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {**os.environ, "GRADIO_SERVER_PORT": str(port), "VSDEMO_OPEN_BROWSER": "0"}
    url = f"http://127.0.0.1:{port}"
    with TemporaryFile() as log:
        command = [sys.executable, str(ROOT / "app.py")]
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            _wait_until_ready(process, url, log)
            yield process.pid, url
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()
            process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: IO[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with suppress(httpx.HTTPError):
            if httpx.get(f"{url}/ready", timeout=TIMEOUT, trust_env=False).is_success:
                return
        time.sleep(POLL)
    log.seek(0)
    lines = log.read().decode(errors="replace").strip().splitlines()
    raise UserError(f"The app did not start: {lines[-1] if lines else 'it printed nothing'}")


async def _load(
    url: str,
    pid: int,
    clients: int,
    seconds: float,
    progress: Progress | None,
) -> LoadReport:
    measurements = Measurements()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(
        base_url=url, timeout=TIMEOUT, limits=limits, trust_env=False
    ) as client:
        sentences, photos = await _material(client)
        start = time.monotonic()
        until = start + seconds
        watching = asyncio.create_task(_watch(pid, measurements, start, seconds, progress))
        await asyncio.gather(
            *(
                _visit(client, random.Random(seed), until, measurements, (sentences, photos))
                for seed in range(clients)
            )
        )
        took = time.monotonic() - start
        await watching
    count = sum(map(len, measurements.times.values()))
    searches = _quantiles(measurements.times["search"])
    return LoadReport(
        clients=clients,
        seconds=round(took, 1),
        requests=count,
        per_second=round(count / took, 1),
        errors=len(measurements.errors),
        first_error=next(iter(measurements.errors), ""),
        **searches,
        rss_first=round(measurements.peak(0, MINUTE)),
        rss_last=round(measurements.peak(max(0.0, seconds - MINUTE), seconds)),
        kinds={
            kind: {"requests": len(times), **_quantiles(times)}
            for kind, times in measurements.times.items()
        },
    )


async def _material(client: httpx.AsyncClient) -> tuple[list[str], list[str]]:
    """Return sentences to search for, and addresses of photos; the app is warm afterwards."""
    gallery = (await client.get("/api/galleries")).json()[0]
    sentences = [example.text for example in examples(gallery["dataset"])] or [
        "a dog runs",
        "a red car",
        "two people",
    ]
    answer = await client.post("/api/search", json={"sentence": sentences[0], "k": 60})
    photos = [hit["url"] for hit in answer.raise_for_status().json()["hits"]]
    for kind in MIX:
        await _send(client, kind, random.Random(0), (sentences, photos))
    return sentences, photos


async def _visit(
    client: httpx.AsyncClient,
    choose: random.Random,
    until: float,
    measurements: Measurements,
    material: tuple[list[str], list[str]],
) -> None:
    """Send one request after the other until the time is over."""
    kinds, weights = [*MIX], [*MIX.values()]
    while (began := time.monotonic()) < until:
        kind = choose.choices(kinds, weights)[0]
        try:
            await _send(client, kind, choose, material)
            measurements.times[kind].append(time.monotonic() - began)
        except (httpx.HTTPError, ValueError, KeyError) as error:
            measurements.errors.append(f"{kind}: {error!r}"[:300])


async def _send(
    client: httpx.AsyncClient,
    kind: str,
    choose: random.Random,
    material: tuple[list[str], list[str]],
) -> None:
    """Send a request of a kind, and check its answer."""
    sentences, photos = material
    sentence, photo = choose.choice(sentences), choose.choice(photos)
    requests: dict[str, Callable[[], Any]] = {
        "search": lambda: client.post("/api/search", json={"sentence": sentence, "k": 24}),
        "photo": lambda: client.get(f"/{photo.removesuffix('large')}small"),
        "similar": lambda: client.post("/api/similar", json={"photo": photo, "k": 24}),
        "describe": lambda: client.post("/api/describe", json={"photo": photo, "k": 10}),
        "parse": lambda: client.post("/api/parse", json={"sentence": sentence}),
        "page": lambda: client.get("/"),
    }
    answer = (await requests[kind]()).raise_for_status()
    if kind in ("search", "similar", "describe") and not answer.json()["hits"]:
        raise ValueError("no hits")


async def _watch(
    pid: int,
    measurements: Measurements,
    start: float,
    seconds: float,
    progress: Progress | None,
) -> None:
    """Measure the memory of the app until the time is over."""
    while (passed := time.monotonic() - start) < seconds:
        used = memory.resident(pid)
        if used is not None:
            measurements.memory.append((passed, used / MB))
        if progress:
            progress(int(passed), int(seconds))
        await asyncio.sleep(POLL)


def _quantiles(times: list[float]) -> dict[str, float]:
    """Return the 50th, 95th and 99th percentile of times, in seconds; zeros without times."""
    if len(times) < 2:
        times = [*times, *times] or [0.0, 0.0]
    cuts = quantiles(times, n=100, method="inclusive")
    return {f"p{share}": round(cuts[share - 1], 4) for share in (50, 95, 99)}
