"""Measuring checkpoints on tasks, and the tables and model cards made from the metrics."""
