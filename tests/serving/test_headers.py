"""Headers that tell browsers what a page may do."""

import base64
import hashlib

from vsdemo.serving.headers import content_security_policy


def test_only_the_scripts_of_the_page_run():
    page = b'<script>a()</script><script src="b.js"></script><SCRIPT type="x">c\n</SCRIPT>'
    policy = content_security_policy(page)
    (scripts,) = (part for part in policy.split("; ") if part.startswith("script-src"))
    assert "unsafe-inline" not in scripts
    for text in (b"a()", b"c\n"):
        digest = base64.b64encode(hashlib.sha256(text).digest()).decode()
        assert f"'sha256-{digest}'" in scripts
    assert scripts.count("sha256") == 2


def test_a_space_may_be_shown_on_its_own_page(monkeypatch):
    monkeypatch.delenv("SPACE_ID", raising=False)
    assert content_security_policy(b"").endswith("frame-ancestors 'self'")
    monkeypatch.setenv("SPACE_ID", "a/b")
    assert "https://huggingface.co" in content_security_policy(b"").rpartition("; ")[2]
