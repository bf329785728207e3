# the text of a function of a library

import jax


def described(fun):
    lines = fun.__doc__.split("\n\n")
    return "\n\n".join(lines[0:1] + [f"A version of {fun.__qualname__}."] + lines[1:])


described(jax.random.normal)
