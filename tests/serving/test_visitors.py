"""Who sends a request."""

import os
import subprocess
import sys

import pytest

from vsdemo.core.paths import ROOT
from vsdemo.serving import visitors
from vsdemo.serving.visitors import COOKIE


def test_a_token_is_recognized_and_cannot_be_made_up():
    token = visitors.new_token()
    assert visitors.token_of({"cookie": f"a=b; {COOKIE}={token}; c=d"}) == token
    assert visitors.new_token() != token
    for text in ("", "x", "a.b", token[:-1], token + "x", token.replace(".", ""), "\xff.\xfe"):
        assert visitors.token_of({"cookie": f"{COOKIE}={text}"}) is None
    assert visitors.token_of({}) is None


def test_a_token_outlives_a_restart_but_not_another_server(monkeypatch, tmp_path):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    visitors.key.cache_clear()
    token = visitors.new_token()
    visitors.key.cache_clear()
    assert visitors.is_token(token)
    assert (tmp_path / visitors.KEY_FILE).stat().st_mode & 0o077 == 0
    (tmp_path / visitors.KEY_FILE).unlink()
    visitors.key.cache_clear()
    assert not visitors.is_token(token)
    visitors.key.cache_clear()


def test_processes_that_start_at_the_same_time_have_one_key(tmp_path):
    code = "from vsdemo.serving import visitors; print(visitors.key().hex())"
    env = {**os.environ, "VSDEMO_HOME": str(tmp_path / "home")}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code], env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    keys = {process.communicate(timeout=60)[0] for process in started}
    assert len(keys) == 1
    assert keys != {""}


@pytest.mark.parametrize(
    ("forwarded", "proxies", "address"),
    [
        (None, 0, "9.9.9.9"),
        ("1.1.1.1", 0, "9.9.9.9"),  # no proxy of the owner: it could be made up
        ("1.1.1.1", 1, "1.1.1.1"),
        ("6.6.6.6, 1.1.1.1", 1, "1.1.1.1"),  # the visitor has made up the first
        ("6.6.6.6, 1.1.1.1, 2.2.2.2", 2, "1.1.1.1"),
        ("1.1.1.1", 2, "9.9.9.9"),
        ("", 1, "9.9.9.9"),
    ],
)
def test_the_address_is_the_one_that_the_owners_proxy_has_seen(forwarded, proxies, address):
    headers = {} if forwarded is None else {"x-forwarded-for": forwarded}
    assert visitors.address_of({"client": ("9.9.9.9", 1)}, headers, proxies) == address


def test_the_cookie_is_kept_from_scripts_and_other_sites(monkeypatch):
    monkeypatch.delenv("SPACE_ID", raising=False)
    assert "HttpOnly; SameSite=Lax" in visitors.cookie("t", "")
    monkeypatch.setenv("SPACE_ID", "a/b")
    assert "SameSite=None; Secure; Partitioned" in visitors.cookie("t", "")
