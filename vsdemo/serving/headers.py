"""Headers that tell browsers what a page may do."""

from __future__ import annotations

import base64
import hashlib
import os
import re

SCRIPT = re.compile(rb"<script([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
FRAMES = "'self' https://huggingface.co https://*.hf.space"  # where a Space is shown
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(self), geolocation=(), microphone=()",
}
# For files and answers, which are not pages.
NO_PAGE = "default-src 'none'; frame-ancestors 'none'; sandbox"


def content_security_policy(page: bytes) -> str:
    """Return the policy of a page: scripts of this server, and those that the page itself has.

    Gradio compiles functions of the page from text, which needs 'unsafe-eval', and sets styles of
    elements, which needs 'unsafe-inline' for styles.
    """
    hashes = " ".join(sorted({_hash(m[2]) for m in SCRIPT.finditer(page) if b"src=" not in m[1]}))
    ancestors = FRAMES if os.environ.get("SPACE_ID") else "'self'"
    return "; ".join(
        [
            "default-src 'self'",
            f"script-src 'self' 'unsafe-eval' {hashes}".rstrip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "media-src 'self' blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            f"frame-ancestors {ancestors}",
        ]
    )


def _hash(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"
