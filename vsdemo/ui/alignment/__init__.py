"""The tab Align."""
