"""Asynchronous calls of tests, beside the event loop of the browser."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run_async(call):
    """Return the result of an asynchronous function without arguments."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(call())).result()
