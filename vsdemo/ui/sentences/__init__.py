"""The tab Sentences."""
