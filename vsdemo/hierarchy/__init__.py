"""The order over words, captions and photos: built, walked, generalised, projected."""
