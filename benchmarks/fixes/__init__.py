"""Runs `jaxlint fix` over real packages, old and new, and says what holds of its fixes: `python -m benchmarks.fixes --help`."""
