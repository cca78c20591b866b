"""Training loops, optimisers, saved state, probes, and trainings as processes."""
