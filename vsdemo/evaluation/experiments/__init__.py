"""Experiments: models trained by one recipe, over several seeds, and the claims that they test.

An experiment is a TOML file in this folder, named after it; `experiment.Experiment` documents its
fields. `python -m vsdemo reproduce NAME` trains its models, measures them and writes
checkpoints/results/experiments/NAME.json for the page of results.
"""
