"""How the shipped parser, the image network Pocket and CLIP are trained; for maintainers."""
