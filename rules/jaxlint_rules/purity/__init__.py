"""Rules of the category purity."""
