"""How checkpoints/finder is made: the boxes it learns from, its maps, and the training.

The app does not use this package; the network itself is `vsdemo.vision.backbones.finder`.
"""
