"""Holds the staging analysis against the truth: what JAX really traced while real test-suites ran. See `--help`."""
