"""vsdemo: visual-semantic embeddings, sentences and photos in one space."""

__version__ = "0.10.0"
