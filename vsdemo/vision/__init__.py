"""Frozen image networks, the regions of a photo, and cached features."""
