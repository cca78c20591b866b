"""Pairs of sentences and of concepts: STS, SICK, SNLI, WordNet and its hypernyms."""
