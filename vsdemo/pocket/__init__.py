"""How checkpoints/pocket is made: which photos, what its teacher sees in them, and the training.

Nothing here runs when the app runs; `vsdemo.backbones.pocket` is the network that this trains.
"""
