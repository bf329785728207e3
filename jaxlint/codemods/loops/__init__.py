"""Python loops that become one program: `scan`, `vmap`, `while_loop`, `fori_loop`."""
