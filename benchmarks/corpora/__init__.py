"""Runs `jaxlint check` over real packages and says how it went: `python -m benchmarks.corpora --help`."""
