"""A model on a local server in the place of the Hugging Face Hub."""

import hashlib
import json

from tests.support.clips import write_clip
from vsdemo.data.downloads import hub


def blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def entry(name, content, *, large):
    """Return what the Hub states about a file."""
    result = {"type": "file", "path": name, "size": len(content), "oid": blob(content)}
    if large:
        digest = hashlib.sha256(content).hexdigest()
        result["lfs"] = {"oid": digest, "size": len(content)}
    return result


def serve_model(web, folder):
    """Let a server have a tiny model, a file that nobody needs, and the list of both."""
    write_clip(folder)
    config, weights = (folder / name for name in (hub.CONFIG, hub.WEIGHTS))
    web.files = {hub.CONFIG: config.read_bytes(), hub.WEIGHTS: weights.read_bytes()}
    listing = [
        entry(hub.CONFIG, web.files[hub.CONFIG], large=False),
        entry(hub.WEIGHTS, web.files[hub.WEIGHTS], large=True),
        entry("open_clip_pytorch_model.bin", b"x" * 10, large=True),
        {"type": "directory", "path": "images"},
    ]
    web.files["main"] = json.dumps(listing).encode()
