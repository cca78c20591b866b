"""The audit of the installed packages in CI: what fails it, and what it says."""

import importlib.util
import json

import pytest

from vsdemo.core.paths import ROOT

UNKNOWN = {"name": "torch", "skip_reason": "Dependency not found on PyPI"}
SOUND = {"name": "pillow", "version": "12.1", "vulns": []}


def flawed(*fixed):
    return {"name": "old", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": [*fixed]}]}


@pytest.fixture
def audit():
    spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "answer", ["", "<html>", "[]", json.dumps({"dependencies": [UNKNOWN, UNKNOWN]})]
)
def test_an_audit_without_a_connection_says_so_and_passes(audit, capsys, answer):
    assert audit.report(answer) == 0
    assert capsys.readouterr().out.startswith("not audited: no connection")


@pytest.mark.parametrize(
    ("packages", "code", "message"),
    [
        ([SOUND], 0, "1 packages audited, 0 to be updated"),
        ([SOUND, UNKNOWN], 0, "not in the database: torch"),
        ([SOUND, flawed("2", "1.5")], 1, "old 1: PYSEC-1, fixed in 2, 1.5"),
        ([flawed()], 0, "old 1: PYSEC-1, not fixed yet"),
    ],
)
def test_only_a_vulnerability_that_is_fixed_fails_the_audit(audit, capsys, packages, code, message):
    assert audit.report(json.dumps({"dependencies": packages})) == code
    assert message in capsys.readouterr().out
