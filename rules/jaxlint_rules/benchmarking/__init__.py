"""Rules of the category benchmarking."""
