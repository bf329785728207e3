# source: jax-ml/jax#25800

import jax
import jax.numpy as jnp


def bounce(x):
    return jnp.abs(x)


def stop(x):
    return jnp.zeros(x.shape, jnp.int32)


def periodic(x):
    return jnp.mod(x, 1.0)


BOUNDARIES = [bounce, stop, periodic]


@jax.jit
def apply_boundary(kind, x):
    return jax.lax.switch(kind, BOUNDARIES, x)  # finding


def main():
    x = jnp.linspace(-1.0, 2.0, 5)
    for kind in range(3):
        print(apply_boundary(kind, x))


main()
