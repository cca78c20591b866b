"""Pictures of what the core computes, as text that a browser draws."""

from vsdemo.plots.bars import bars_svg
from vsdemo.plots.tree import tree_svg, tree_text

__all__ = ["bars_svg", "tree_svg", "tree_text"]
