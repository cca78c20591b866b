"""Encoders over trees.

`shapes` turns a sentence into nodes and edges, `levels` batches the trees of many sentences level
by level, `rnn` and `lstm` are the networks, and `recursion` computes the same node by node.
"""
