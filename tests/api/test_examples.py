"""The examples of the READMEs, run against an app."""

import json
import re
import shlex
import subprocess

import pytest

from tests.support.async_calls import run_async
from vsdemo.core.paths import ROOT
from vsdemo.ui.api import gradio_api

ADDRESS = "http://127.0.0.1:7860"
NAMES = ("README.md", "vsdemo/serving/README.md")
READMES = {name: (ROOT / name).read_text("utf-8") for name in NAMES}
CURL = [
    match.replace("\\\n", " ").strip()
    for text in READMES.values()
    for match in re.findall(r"^    curl (?:.*\\\n)*.*$", text, re.MULTILINE)
]
PYTHON = [
    match
    for text in READMES.values()
    for match in re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    if "gradio_client" in match
]
MCP = re.findall(r"```json\n(.*?)```", READMES["README.md"], re.DOTALL)


def test_there_are_examples():
    assert len(CURL) >= 3
    assert len(PYTHON) == 1
    assert len(MCP) == 1


@pytest.mark.parametrize("line", CURL)
def test_curl(line, server):
    words = shlex.split(line.replace(ADDRESS, server.rstrip("/")))
    done = subprocess.run([*words, "-s", "--fail"], capture_output=True, timeout=120, check=True)
    answer = json.loads(done.stdout)
    assert answer
    assert "error" not in answer


@pytest.mark.parametrize("code", PYTHON)
def test_gradios_client(code, server, photo, tmp_path, monkeypatch):
    (tmp_path / "photo.jpg").write_bytes(photo[0].read_bytes())
    monkeypatch.chdir(tmp_path)
    lines = code.replace(ADDRESS, server.rstrip("/")).strip().splitlines()
    scope = {}
    exec("\n".join([*lines[:-1], f"answer = {lines[-1]}"]), scope)
    assert scope["answer"]["hits"]


@pytest.mark.skipif(not gradio_api.has_mcp(), reason="gradio[mcp] is not installed")
def test_mcp(server):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    (address,) = (entry["url"] for entry in json.loads(MCP[0])["mcpServers"].values())

    async def search():
        async with (
            streamablehttp_client(address.replace(ADDRESS, server.rstrip("/"))) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            return await session.call_tool("search", {"sentence": "a red circle", "k": 1})

    result = run_async(search)
    assert not result.isError
    assert "unit_score" in str(result.content)
