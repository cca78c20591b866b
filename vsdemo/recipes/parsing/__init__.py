"""How checkpoints/stanza-en is made: data, word vectors, Stanza's training code, silver trees.

Nothing here runs when the app runs; `vsdemo.data.text.parser` loads what this package made.
"""
