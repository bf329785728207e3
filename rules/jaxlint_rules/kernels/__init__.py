"""Rules of the category kernels."""
