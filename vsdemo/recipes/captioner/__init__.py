"""The recipe of captioners, which write sentences about photos for a model that aligns them."""
