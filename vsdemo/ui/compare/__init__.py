"""The tab Compare."""
