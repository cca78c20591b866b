"""Starts the app: `python app.py`. Hugging Face Spaces run this file too."""

import sys

from vsdemo.core.errors import UserError
from vsdemo.ui import launch

if __name__ == "__main__":
    try:
        launch()
    except UserError as error:
        sys.exit(f"vsdemo: {error}")
