"""What `jit`, `vmap`, `grad`, `scan` and their kin do to functions, values and classes."""
