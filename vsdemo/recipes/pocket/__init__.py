"""How checkpoints/pocket is made: which photos, what its teacher sees in them, and the training.

Nothing here runs when the app runs; the network itself is `vsdemo.vision.backbones.pocket`.
"""
