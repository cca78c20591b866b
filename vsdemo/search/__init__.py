"""A checkpoint over a gallery, exact top-k, sentences compared."""
