"""Garbage collection waits while modules are imported."""

import gc

import pytest

from vsdemo.core import startup


def test_garbage_is_collected_again_after_the_imports():
    with startup.importing():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count()  # what was imported is looked through no more
    gc.unfreeze()


def test_a_failed_import_changes_nothing():
    with pytest.raises(ImportError), startup.importing():
        raise ImportError
    assert gc.isenabled()
    gc.unfreeze()
