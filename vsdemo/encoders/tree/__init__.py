"""Encoders over trees: shapes, level batching, recursive cells and LSTMs."""
