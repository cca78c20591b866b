"""Trainings as processes of their own: the specification, the process, its folder."""
