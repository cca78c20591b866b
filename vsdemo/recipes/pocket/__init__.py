"""How checkpoints/pocket is made: its photos, the teacher's view of them, and the training.

The app does not use this package; the network itself is `vsdemo.vision.backbones.pocket`.
"""
