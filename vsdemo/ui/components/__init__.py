"""HTML and widgets that several tabs share."""
