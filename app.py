"""Starts the app: `python app.py`. Hugging Face Spaces run this file too."""

from vsdemo.ui import launch

if __name__ == "__main__":
    launch()
