"""`search --app`: the command line asks an app that runs."""

import json
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from tests.support.serving import free_port

WEIGHED = "a red circle; -a blue bar^0.5"


@pytest.fixture
def search(run, server, api_checkpoints):
    """Run `search` over the toy gallery, by default with `--app`."""
    checkpoint = api_checkpoints / "toy" / "gru"

    def search(*words, app=server):
        asked = ("--app", app) if app else ()
        return run("search", checkpoint, *words, *asked)

    return search


@pytest.mark.parametrize("options", [(WEIGHED,), ("a rde circel",), ("a red circle", "-k", 3)])
def test_the_app_answers_as_the_command_itself(search, options):
    place = ("--gallery", "toy", "--split", "test", "--json")
    code, answer, errors = search(*options, *place)
    assert code == 0, errors
    assert json.loads(answer) == json.loads(search(*options, *place, app=None)[1])


def test_the_app_gets_photos(search, toy_root):
    photo = sorted((toy_root / "toy" / "images").iterdir())[0]
    place = ("--photo", photo, "--gallery", "toy", "--split", "test")
    assert search("", *place)[:2] == search("", *place, app=None)[:2]
    code, _, errors = search("", "--photo", "gone.jpg", "--gallery", "toy")
    assert code == 2
    assert "gone.jpg cannot be read" in errors


def test_what_the_app_refuses_is_one_sentence(search):
    code, _, errors = search("a red circle", "--gallery", "gone")
    assert code == 2
    assert "There is no gallery 'gone-all' here; choose one of toy-test" in errors
    code, _, errors = search("a red circle", "-k", "0", "--gallery", "toy", "--split", "test")
    assert code == 2
    assert errors.count("\n") == 1


@pytest.mark.parametrize("more", [(), ("--gallery", "toy", "--to", "x.csv")])
def test_options_that_the_app_does_not_take(search, more):
    code, _, errors = search("a red circle", *more)
    assert code == 2
    assert "--app needs --gallery" in errors


class Page(BaseHTTPRequestHandler):
    """A server that is not the app."""

    answer = b"<p>Hello</p>"
    status = 200

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(
    ("status", "answer", "message"),
    [
        (200, b"<p>Hello</p>", "No app answers at"),
        (200, b'{"hits": 1}', "has another version"),
        (404, b"<p>Hello</p>", "is not vsdemo's app (Not Found)"),
    ],
)
def test_another_server(search, status, answer, message):
    kind = type("Other", (Page,), {"status": status, "answer": answer})
    with HTTPServer(("127.0.0.1", 0), kind) as other:
        Thread(target=other.handle_request, daemon=True).start()
        address = f"http://127.0.0.1:{other.server_port}"
        code, _, errors = search("a red circle", "--gallery", "toy", app=address)
    assert code == 2
    assert message in errors


def test_no_app_answers(search):
    address = f"http://127.0.0.1:{free_port()}"
    code, _, errors = search("a red circle", "--gallery", "toy", app=address)
    assert code == 2
    assert f"No app answers at {address}" in errors


@pytest.mark.parametrize("address", ["http://127.0.0.1:786O", "http://", "https://127.0.0.1:1"])
def test_an_address_with_a_mistake(search, address):
    code, _, errors = search("a red circle", "--gallery", "toy", app=address)
    assert code == 2
    assert f"No app answers at {address}" in errors
    assert errors.count("\n") == 1


def test_a_gallery_may_be_named_as_on_the_command_line(search, toy_root):
    for gallery in ("Toy", "TOY"):
        assert search("a red circle", "--gallery", gallery, "--split", "test")[0] == 0
    _, _, errors = search("a red circle", "--gallery", toy_root / "Holiday")
    assert "There is no gallery 'holiday-all' here" in errors


@pytest.mark.parametrize("address", ["localhost:7860", "file:///etc/passwd"])
def test_what_is_no_address(search, address):
    code, _, errors = search("a red circle", "--gallery", "toy", app=address)
    assert code == 2
    assert "is not the address of an app; write it like http://127.0.0.1:7860." in errors


def test_no_model_is_loaded(server, api_checkpoints):
    words = ["search", str(api_checkpoints / "toy" / "gru"), "a red circle"]
    words += ["--gallery", "toy", "--split", "test", "--app", server]
    program = (
        f"import sys; sys.argv = ['vsdemo', *{words!r}]\n"
        "from vsdemo.cli import main\n"
        "try: main()\n"
        "finally: assert not {'torch', 'numpy', 'gradio'} & {*sys.modules}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
