"""Public commits that made JAX code faster, smaller or right, and what `check` says on the side before."""
