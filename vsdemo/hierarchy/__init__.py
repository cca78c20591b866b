"""The hierarchy that an order embedding has learnt, over words, captions and photos.

- `order.py`: `Hierarchy`, the items, their embeddings, and what lies above and below what.
- `walks.py`: walks up to the root and down to a photo.
- `nodes.py`: `Node`, a place to walk from: an item, or any sentence or photo.
- `map_content.py`, `projection.py`: the items and arrows on a map, and their places in the plane.
"""
