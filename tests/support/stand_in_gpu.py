"""Stand-ins for what a Space with ZeroGPU has: the service that lends GPUs, and the GPU itself.

The library `spaces` is the real one. It asks the service for a GPU and starts a process that may
use it; here that process computes on the CPU.
"""

import json
import os
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

from vsdemo.serving import offline


class Lender:
    """The service: lends one GPU, and remembers every request.

    Attributes:
        requests: (path, parameters) of each request, in order.
        refuses: Whether no GPU is free.
    """

    def __init__(self):
        self.requests = []
        self.refuses = False

    def processes(self):
        """Return the ids of the processes that used the GPU."""
        return [int(query["pid"]) for path, query in self.requests if path == "/allow"]

    def count(self, path):
        return sum(requested == path for requested, _ in self.requests)


@contextmanager
def lending():
    """Serve a Lender on the loopback; yield it and the variables of a Space with ZeroGPU."""
    lender = Lender()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            address = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(address.query).items()}
            lender.requests.append((address.path, query))
            token = str(lender.count("/schedule"))
            answer = {"nvidiaIndex": 0, "nvidiaUUID": "GPU-0", "allowToken": token}
            body = json.dumps({**answer, "idle": lender.count("/schedule") > 1}).encode()
            self.send_response(503 if lender.refuses and address.path == "/schedule" else 200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield (
            lender,
            {
                "SPACES_ZERO_GPU": "true",
                "SPACES_ZERO_DEVICE_API_URL": f"http://127.0.0.1:{server.server_port}",
            },
        )
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def install():
    """Let the process that `spaces` starts do without the hardware."""
    os.environ.update(offline.variables())
    import spaces.zero.torch

    spaces.zero.torch.init = lambda uuid: None
    spaces.zero.torch.move = lambda callback=None: None
