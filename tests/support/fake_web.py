"""A local web server with range requests and configurable failures."""

import hashlib
import io
import re
import time
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from threading import Event, Thread

from PIL import Image

from vsdemo.data.downloads import unpack
from vsdemo.data.downloads.fetch import Download, RemoteFile

NAMES = ("a", "b", "c", "d")
SPLITS = {"train": ("a", "b"), "dev": ("c",), "test": ("d",)}


def zipped(members):
    """Return the bytes of a zip, the same each time."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def photo(number):
    """Return a photo of noise, whose file is large; the same each time."""
    out, noise = io.BytesIO(), Random(number).randbytes(240 * 180 * 3)
    Image.frombytes("RGB", (240, 180), noise).save(out, "JPEG", quality=90)
    return out.getvalue()


def small_flickr8k():
    """Return archives with the layout of Flickr8k's and four photos, as bytes by file name."""
    photos = {f"Flicker8k_Dataset/{n}.jpg": photo(i) for i, n in enumerate(NAMES)}
    photos["__MACOSX/Flicker8k_Dataset/._a.jpg"] = b"to be left out"
    lines = [f"{n}.jpg#{i}\tA caption of {n} ." for n in NAMES for i in range(5)]
    texts = {"Flickr8k.token.txt": "\n".join(lines), "__MACOSX/._readme.txt": "to be left out"}
    for split, names in SPLITS.items():
        texts[f"Flickr_8k.{split}Images.txt"] = "\n".join(f"{n}.jpg" for n in names)
    return {"photos.zip": zipped(photos), "texts.zip": zipped(texts)}


class Web(ThreadingHTTPServer):
    """Serves `files`; the other attributes make it fail."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.files = {}  # name -> bytes
        self.requests = []  # (path, Range)
        self.ranges = True  # whether range requests are answered
        self.names_size = True  # whether responses have a Content-Length
        self.tags = True  # whether responses have an ETag
        self.ends_after = []  # per response: bytes until the connection breaks
        self.statuses = []  # for each response an error; then none
        self.careful = True  # whether If-Range is respected
        self.pause = 0  # seconds before each 20,000 bytes
        self.hold = None  # byte of a file before which a response waits for `go`
        self.go = Event()


def small_download(url, files):
    """Return the download of photos and texts that are served at `url`."""
    places = {"texts.zip": "flickr8k/Flickr8k_text", "photos.zip": "flickr8k/Flicker8k_Dataset"}

    def file(name, place):
        data = files[name]
        digest = f"md5:{hashlib.md5(data).hexdigest()}"
        return RemoteFile(
            url=f"{url}/{name}",
            size=len(data),
            digest=digest,
            destination=place,
            unpacked_size=len(data),
            unpack=unpack.unpack_archive,
        )

    return Download(
        title="Flickr8k",
        about="4 photos",
        files=tuple(file(name, place) for name, place in places.items()),
        terms="for tests only",
    )


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass

    def do_GET(self):
        web = self.server
        name = self.path.rpartition("/")[2]  # a proxy receives the whole URL
        web.requests.append((self.path, self.headers.get("Range")))
        if web.statuses:
            return self.send_error(web.statuses.pop(0))
        if self.path.startswith("/moved/"):
            self.send_response(302)
            self.send_header("Location", f"{web.url}/{name}")
            return self.end_headers()
        if name not in web.files:
            return self.send_error(404)
        self.send(web.files[name])

    def send(self, data):
        web, size = self.server, len(data)
        tag = f'"{hashlib.md5(data).hexdigest()}"'
        begin = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(begin[1]) if begin and web.ranges else 0
        if web.careful and self.headers.get("If-Range", tag) != tag:
            begin = 0
        if begin >= size:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            return self.end_headers()
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{size - 1}/{size}")
        if web.tags:
            self.send_header("ETag", tag)
        if web.names_size:
            self.send_header("Content-Length", str(size - begin))
        self.end_headers()
        end = begin + web.ends_after.pop(0) if web.ends_after else size
        for start in range(begin, end, 20_000):
            time.sleep(web.pause)
            if web.hold is not None and start >= web.hold:
                web.go.wait(20)
            try:
                self.wfile.write(data[start : min(start + 20_000, end)])
            except OSError:  # the client has closed the connection
                return None


@contextmanager
def serving():
    """Run a `Web` with a small Flickr8k."""
    with Web() as web:
        web.files = small_flickr8k()
        thread = Thread(target=web.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield web
        finally:
            web.shutdown()
            thread.join()
