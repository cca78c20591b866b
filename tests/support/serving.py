"""Apps that tests serve in their own process."""

import asyncio
import gc
import socket
import warnings
from contextlib import contextmanager

from vsdemo import ui


def free_port():
    """Return a port of this machine that nothing uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def served_here(apps, name, **options):
    """Run the app in this process, and note its address in `apps`."""
    port = free_port()
    demo = ui.launch(port, prevent_thread_lock=True, quiet=True, **options)
    apps[name] = f"http://127.0.0.1:{port}/"
    try:
        yield
    finally:
        del apps[name]
        demo.close()


def collect_sockets():
    """Collect sockets and event loops that nothing uses any more, without their warnings.

    Gradio makes a new event loop the current one for each page, and closes none of them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        asyncio.set_event_loop(None)
        gc.collect()
