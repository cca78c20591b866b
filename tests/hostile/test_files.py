"""Files: a stranger reads and names no file but their own, however they ask."""

import json
from pathlib import Path

import pytest

from tests.hostile.conftest import upload

FILE = {"meta": {"_type": "gradio.FileData"}}
NOT_YOURS = "You do not have access to this file"


def hidden(text):
    """Return JSON text in which every character is escaped."""
    return '"' + "".join(f"\\u{ord(letter):04x}" for letter in text) + '"'


def test_an_upload_can_be_read_and_described_by_its_visitor(stranger, png):
    own = stranger()
    path = upload(own, png)
    assert own.get(f"gradio_api/file={path}").content == png
    answer = own.post("api/describe", json={"photo": {"path": path}, "gallery": "toy-test"})
    assert answer.status_code == 200


@pytest.mark.parametrize("cookie", [True, False])
def test_no_other_visitor_reads_it(stranger, png, cookie):
    path = upload(stranger(), png)
    other = stranger(cookie=cookie)
    dotted, doubled = path.replace("own.png", "./own.png"), path.replace("/", "//")
    for form in (path, dotted, doubled, f"{path}?x=1"):
        answer = other.get(f"gradio_api/file={form}")
        assert answer.status_code == 403
        assert png not in answer.content
    assert other.get(f"gradio_api/file={path}", headers={"Range": "bytes=0-9"}).status_code == 403


@pytest.mark.parametrize("escape", [json.dumps, hidden])
@pytest.mark.parametrize(
    ("address", "body"),
    [
        ("api/describe", '{"photo": {"path": PATH}}'),
        ("api/similar", '{"photo": {"path": PATH}}'),
        ("api/walk", '{"photo": {"path": PATH}, "model": "order"}'),
        ("api/align", '{"photo": {"path": PATH}, "sentence": "a bar"}'),
        ("api/embed", '{"photos": [{"path": PATH}]}'),
        ("gradio_api/call/describe", '{"data": [{"path": PATH}, "", "", 3, 0]}'),
        ("gradio_api/run/describe", '{"data": [{"path": PATH}]}'),
        ("gradio_api/queue/join", '{"fn_index": 3, "session_hash": "a", "data": [{"path": PATH}]}'),
        ("gradio_api/mcp/", '{"method": "tools/call", "params": {"photo": {"path": PATH}}}'),
    ],
)
def test_no_other_visitor_names_it(stranger, png, address, body, escape):
    path = upload(stranger(), png)
    answer = stranger().post(
        address,
        content=body.replace("PATH", escape(path)),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 403
    assert NOT_YOURS in answer.text


def test_two_visitors_with_the_same_photo_have_a_file_each(stranger, png):
    ann, bob = stranger(), stranger()
    of_ann, of_bob = upload(ann, png), upload(bob, png)
    assert of_ann != of_bob
    assert bob.get(f"gradio_api/file={of_bob}").content == png
    assert bob.get(f"gradio_api/file={of_ann}").status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/passwd", "/proc/self/environ", "app.py", "../../etc/passwd", "checkpoints"),
        *("vsdemo/__init__.py", "~/.ssh/id_rsa", "file:///etc/passwd", "/etc/passwd\0.png"),
    ],
)
def test_no_file_of_the_server_is_read(stranger, path):
    client = stranger()
    if "\0" not in path:
        assert client.get(f"gradio_api/file={path}").status_code in (403, 404)
    for photo in ({"path": path}, {"path": path, **FILE}, {"url": path, "path": ""}, path):
        answer = client.post("api/describe", json={"photo": photo})
        assert answer.status_code in (400, 403)
        assert "root:" not in answer.text
        assert "hits" not in answer.text


def test_a_picture_of_the_server_is_not_described(stranger, toy_root):
    client = stranger()
    picture = str(next((toy_root / "toy" / "images").glob("*.png")))
    for photo in ({"path": picture}, {"path": picture, **FILE}):
        assert client.post("api/describe", json={"photo": photo}).status_code == 403
    answer = client.post("api/walk", json={"sentence": picture, "model": "order"})
    assert answer.json().get("kind") != "photo"
    assert Path(picture).exists()


@pytest.mark.parametrize(
    "address",
    [
        "gradio_api/file=http://127.0.0.1:9/a.png",
        "gradio_api/file=https://example.org/a.png",
        "gradio_api/proxy=https://example.org/a.png",
        "gradio_api/deep_link?session_hash=a",
    ],
)
def test_the_server_contacts_no_host_and_stores_no_page_for_a_visitor(stranger, address):
    assert stranger().get(address).status_code == 404


def test_what_a_browser_is_told(stranger, png):
    client = stranger()
    path = upload(client, png)
    page = client.get("")
    assert "script-src 'self' 'unsafe-eval' 'sha256-" in page.headers["content-security-policy"]
    for answer in (page, client.get(f"gradio_api/file={path}"), client.get("api/models")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert "content-security-policy" in answer.headers


@pytest.mark.parametrize("name", ["a.html", "a.svg", "a.js", "a.png"])
def test_an_uploaded_page_does_not_run(stranger, name):
    client = stranger()
    path = upload(client, b"<script>alert(1)</script>", name)
    answer = client.get(f"gradio_api/file={path}")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "html" not in answer.headers["content-type"]
    assert "svg" not in answer.headers["content-type"] or "sandbox" in str(answer.headers)
