"""vsdemo: visual-semantic embeddings, sentences and photos in one space."""

__version__ = "0.9.0"
