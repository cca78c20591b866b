"""Starting the app opens the browser on a person's own machine, and nowhere else."""

import sys

import pytest

from vsdemo.serving import access, desktop

VARIABLES = (
    desktop.OPEN_BROWSER,
    *access.PUBLIC,
    *desktop.UNATTENDED,
    *desktop.DISPLAYS,
)


@pytest.fixture
def machine(monkeypatch):
    """A machine of a platform on which only these variables are set."""

    def machine(platform, **variables):
        monkeypatch.setattr(sys, "platform", platform)
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return machine


@pytest.mark.parametrize(
    ("platform", "variables"),
    [
        ("darwin", {}),
        ("win32", {}),
        ("linux", {"DISPLAY": ":0"}),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}),
        ("linux", {"VSDEMO_OPEN_BROWSER": "1"}),
    ],
)
def test_the_browser_opens_on_a_desktop(machine, platform, variables):
    machine(platform, **variables)
    assert desktop.opens_browser()


@pytest.mark.parametrize(
    "variables",
    [
        {"DISPLAY": ""},
        {"DISPLAY": ":0", "VSDEMO_OPEN_BROWSER": "0"},
        {"DISPLAY": ":0", "CI": "true"},
        {"DISPLAY": "localhost:10.0", "SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"},
        {"DISPLAY": ":0", "SPACE_ID": "vsdemo/vsdemo"},
        {"DISPLAY": ":0", "GRADIO_SERVER_NAME": "0.0.0.0"},
        {"DISPLAY": ":0", "GRADIO_SHARE": "True"},
    ],
)
def test_the_browser_does_not_open_elsewhere(machine, variables):
    machine("linux", **variables)
    assert not desktop.opens_browser()


@pytest.mark.parametrize("name", ["CI", "SSH_CONNECTION", "SPACE_ID"])
def test_a_mac_can_be_a_server_too(machine, name):
    machine("darwin", **{name: "1"})
    assert not desktop.opens_browser()
