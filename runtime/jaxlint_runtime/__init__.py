"""The runtime half: runs the user's program, transforms it and measures. The only package that imports jax."""
