"""A cutter of views that crashes, in a module that worker processes import quickly."""

import os


class CrashingCutter:
    """Ends its process at photos of 64 x 64 pixels."""

    def __init__(self, cutter):
        self.cutter, self.short = cutter, cutter.short

    def __call__(self, photo):
        if photo.size == (64, 64):
            os._exit(1)
        return self.cutter(photo)
