"""Pictures of what the core computes, as text that a browser draws."""

from vsdemo.plots.tree import tree_svg, tree_text

__all__ = ["tree_svg", "tree_text"]
