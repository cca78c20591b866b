"""The tab Describe."""
