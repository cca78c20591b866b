"""Indexing of folders in the app: a panel next to the gallery, only on the user's own machine."""
