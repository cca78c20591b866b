"""Records, configuration, events, paths, checksums, device and opened images: what all use."""
