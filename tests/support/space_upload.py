"""What the command in vsdemo/serving/README.md would upload to a Space."""

import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import MagicMock, patch

from huggingface_hub.cli.hf import app
from huggingface_hub.utils import filter_repo_objects

from vsdemo.core.paths import ROOT

SERVING = (ROOT / "vsdemo" / "serving" / "README.md").read_text(encoding="utf-8")


def command():
    """Return the words of the command, after `hf`."""
    lines = re.search(r"^ {4}hf (upload (?:.*\\\n)*.*)$", SERVING, re.MULTILINE)[1]
    return shlex.split(lines.replace("\\\n", " "))


def uploaded(root: Path):
    """Return the files below a folder that the command would upload, by their relative paths.

    The command runs with a stand-in for what speaks to the Hub.
    """
    hub = MagicMock()
    speaking = patch("huggingface_hub.cli.upload.get_hf_api", return_value=hub)
    with speaking, redirect_stdout(StringIO()):
        app(command(), standalone_mode=False)
    assert hub.create_repo.call_args.kwargs["repo_type"] == "space"
    options = hub.upload_folder.call_args.kwargs
    assert options["folder_path"] == "."
    names = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    return sorted(
        filter_repo_objects(
            names,
            allow_patterns=options["allow_patterns"],
            ignore_patterns=options["ignore_patterns"],
        )
    )
