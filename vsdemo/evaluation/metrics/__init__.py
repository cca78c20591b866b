"""Metrics and their confidence intervals: ranks, accuracy, correlation, relatedness, pointing."""
