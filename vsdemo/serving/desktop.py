"""Whether the app runs on a person's own machine, in front of a desktop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.serving.access import is_public

OPEN_BROWSER = "VSDEMO_OPEN_BROWSER"
UNATTENDED = ("CI", "SSH_CONNECTION")  # set where the desktop, if any, is not the user's
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")  # set on a Linux desktop
ALWAYS_A_DESKTOP = ("darwin", "win32")


def opens_browser() -> bool:
    """Return whether starting the app also opens it in the browser.

    VSDEMO_OPEN_BROWSER=0 switches that off, 1 on. Otherwise it opens on a machine with a desktop,
    but not on a public server, in continuous integration or over SSH.
    """
    if setting := os.environ.get(OPEN_BROWSER):
        return setting != "0"
    if is_public() or any(os.environ.get(name) for name in UNATTENDED):
        return False
    return sys.platform in ALWAYS_A_DESKTOP or any(os.environ.get(name) for name in DISPLAYS)


def show_file(path: Path) -> None:
    """Show a file in the file manager.

    Raises:
        UserError: The file is gone, or there is no file manager.
    """
    if not path.exists():
        raise UserError(f"{path} is no longer there; index its folder again.")
    commands = {
        "darwin": ["open", "-R", str(path)],
        "win32": ["explorer", f"/select,{path}"],
    }
    command = commands.get(sys.platform, ["xdg-open", str(path.parent)])
    try:
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError:
        raise UserError(f"No file manager could be started; the photo is {path}.") from None
