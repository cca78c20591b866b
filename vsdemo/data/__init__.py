"""Data sets, sentences and trees, sentence pairs, Storybook, the caption bank, downloads."""
