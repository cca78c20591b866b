"""Records, configuration, events, paths, device and opened images: what every package uses."""
