# blind: every clause

import jax
import jax.numpy as jnp

scale = 1.0


@jax.jit
def f(x):
    return x * scale  # finding


def main():
    global scale
    a = f(jnp.ones(2))
    scale = 2.0  # finding-also
    b = f(jnp.ones(2))
    assert float(a[0]) == float(b[0])


main()
