"""From photos to features: frozen image networks, the regions of a photo, and the cache.

`crops` lists the ways to look at a photo, `backbones` the networks, `proposals` the sources of
regions; `features` computes the features and keeps them on disk.
"""
