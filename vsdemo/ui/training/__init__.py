"""The tab Train."""
