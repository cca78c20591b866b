"""The script of plotly, which draws figures in the browser. The one home of plotly."""

from __future__ import annotations

from pathlib import Path

import plotly

SCRIPT = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
