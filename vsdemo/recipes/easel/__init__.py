"""How checkpoints/easel is made: its pictures, what is learned from them, and the training.

The app does not use this package; the network itself is `vsdemo.vision.backbones.easel`.
"""
