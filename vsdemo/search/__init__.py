"""Search with a checkpoint: galleries, exact top k by any score, comparison of sentences.

Other programs call it through `embedding_model`, which `vsdemo.load` returns, and `mteb_encoder`.
"""
