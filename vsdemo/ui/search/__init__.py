"""The tab Search."""
