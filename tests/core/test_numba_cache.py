"""Where numba keeps what it has compiled."""

import os

import pytest

from vsdemo.core import numba_cache


@pytest.mark.parametrize(("writable", "folder"), [(True, None), (False, "numba")])
def test_numba_keeps_its_cache_where_it_can_write(own_home, monkeypatch, writable, folder):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(numba_cache.os, "access", lambda place, mode: writable)
    numba_cache.let_numba_cache()
    expected = str(own_home / folder) if folder else None
    assert os.environ.get("NUMBA_CACHE_DIR") == expected
