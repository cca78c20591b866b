"""The tab Hierarchy."""
