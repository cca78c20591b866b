"""How the shipped parser and the image network Pocket are trained; for maintainers."""
