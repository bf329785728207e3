"""Rules of the category vectorization."""
