"""How checkpoints/stanza-en is made: data, word vectors, Stanza's training code, silver trees.

The app does not use this package; `vsdemo.data.text.parser` loads what it made.
"""
