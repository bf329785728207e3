"""Candidates that are edits of the source: taken from findings and from the run, then run as whole programs,
compared and measured.

Nothing here imports jax: the programs run in workers (`capture/trial_run.py`).
"""
