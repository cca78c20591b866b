"""Training jobs: their specification, their processes and their folders."""
