"""Sentences: the parser and its trees, vocabularies, word vectors, rewritten captions."""
