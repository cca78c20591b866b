"""Figures of results: SVG as text, images, and data for plotly. No function needs a page."""

from vsdemo.plots.alignment_overlay import boxes_svg
from vsdemo.plots.alignment_page import overlay_png, overlay_svg
from vsdemo.plots.bar_chart import bars_svg
from vsdemo.plots.crops import crop, crops_png
from vsdemo.plots.difference_profile import profile_svg
from vsdemo.plots.line_chart import lines_svg
from vsdemo.plots.tree import tree_svg, tree_text

__all__ = [
    "bars_svg",
    "boxes_svg",
    "crop",
    "crops_png",
    "lines_svg",
    "overlay_png",
    "overlay_svg",
    "profile_svg",
    "tree_svg",
    "tree_text",
]
