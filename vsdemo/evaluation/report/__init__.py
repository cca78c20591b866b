"""checkpoints/README.md: measured results as records, and the page that is made from them."""
