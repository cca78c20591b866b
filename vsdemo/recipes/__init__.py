"""How the shipped parser, Pocket, Easel and CLIP are trained; for maintainers."""
