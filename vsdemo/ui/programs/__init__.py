"""How a program gets what a page shows."""
