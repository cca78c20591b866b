"""Figures with intervals: ranks, accuracy, correlation, relatedness, pointing."""
