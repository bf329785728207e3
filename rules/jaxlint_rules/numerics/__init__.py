"""Rules of the category numerics."""
