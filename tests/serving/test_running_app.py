"""The client of an app that runs: what goes wrong is one sentence."""

import socket
from contextlib import closing

import pytest

from tests.support.serving import free_port
from vsdemo.core.errors import UserError
from vsdemo.serving import running_app
from vsdemo.serving.running_app import NoAnswer, RunningApp


def test_an_app_that_is_slow_is_not_waited_for(is_one_sentence):
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        app = RunningApp(address, patience=0.2)
        with pytest.raises(NoAnswer, match=r"has not answered within 0\.2 s") as caught:
            app.search({"sentence": "a dog"})
        assert is_one_sentence(caught)
        assert not app.is_ready


def test_no_app_is_there(is_one_sentence):
    app = RunningApp(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(NoAnswer, match="No app answers at http") as caught:
        app.models()
    assert is_one_sentence(caught)
    assert not app.is_ready


@pytest.mark.parametrize("address", ["", "127.0.0.1:7860", "ftp://127.0.0.1", "http://[", "file:/"])
def test_what_is_no_address(address, is_one_sentence):
    with pytest.raises(UserError, match="is not the address of an app") as caught:
        RunningApp(address)
    assert is_one_sentence(caught)


def test_the_owner_chooses_the_app_that_answers_by_a_variable(monkeypatch):
    monkeypatch.delenv(running_app.BACKEND, raising=False)
    assert running_app.chosen() is None
    monkeypatch.setenv(running_app.BACKEND, "http://127.0.0.1:7860")
    assert running_app.chosen() == "http://127.0.0.1:7860"
