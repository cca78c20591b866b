"""Files from the web: named downloads, resumable downloads, archives."""
