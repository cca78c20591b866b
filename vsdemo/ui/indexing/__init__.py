"""Indexing of folders in the app: a panel beside the gallery, on a person's own machine only."""
