"""The port of the server."""

import socket

import pytest

from vsdemo.core.errors import UserError
from vsdemo.serving import ports


@pytest.mark.parametrize(
    "text", ["http", "0", "-1", "65536", "7860.0", "٧٨٦٠", pytest.param("9" * 5000, id="long")]
)
def test_what_is_no_port_is_refused(monkeypatch, text):
    monkeypatch.setenv("GRADIO_SERVER_PORT", text)
    with pytest.raises(UserError, match="A port is a number from 1 to 65,535"):
        ports.choose(None)


def test_the_port_is_that_of_the_option_or_of_the_environment(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    monkeypatch.setenv("GRADIO_SERVER_PORT", str(free))
    assert ports.choose(None) == free
    monkeypatch.setenv("GRADIO_SERVER_PORT", "http")
    assert ports.choose(free) == free


def test_an_address_of_another_machine_is_refused(monkeypatch):
    monkeypatch.setenv("GRADIO_SERVER_NAME", "192.0.2.1")
    with pytest.raises(UserError, match=r"Port 7999 of 192\.0\.2\.1 cannot be used"):
        ports.choose(7999)
