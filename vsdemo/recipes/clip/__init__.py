"""How checkpoints/storybook/clip is made: its scenes, and the contrastive training.

The app does not use this package. open_clip loads the result, whose image encoder is also a
backbone, see `vsdemo.vision.backbones.clip`.
"""
