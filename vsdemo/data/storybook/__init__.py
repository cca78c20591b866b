"""Storybook: an illustrated world whose every tree, box and entailment is known."""
