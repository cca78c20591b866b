"""Files from the web: what can be fetched by name, resumed downloads, archives."""
