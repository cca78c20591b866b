"""Stores of large numbers of embeddings, which are searched without a gallery in memory.

A store has an address:

    FOLDER                   merged embeddings: every photo is compared
    usearch:FOLDER           the same with a graph, so that few are compared
    milvus:FILE.db           a collection in a file, by milvus-lite
    milvus:http://HOST:PORT  a collection on a server or cluster

Stores return candidates; the model's own score then ranks them exactly.
"""
