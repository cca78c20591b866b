"""How the shipped parser, image networks, CLIP and the papers' experiments are trained."""
