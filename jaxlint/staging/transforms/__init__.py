"""The effect of `jit`, `vmap`, `grad`, `scan` and their kin on functions, values and classes."""
