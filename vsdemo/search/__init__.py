"""Search with a checkpoint: galleries, exact top k by any score, comparison of sentences."""
