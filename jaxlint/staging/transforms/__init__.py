"""The effect of `jit`, `vmap`, `grad`, `scan` and other transformations on functions, values and classes."""
