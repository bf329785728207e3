# source: jax-ml/jax#25800

import jax
import jax.numpy as jnp


def bounce(x):
    return jnp.abs(x)


def stop(x):
    return jnp.zeros_like(x)


def periodic(x):
    return jnp.mod(x, 1)


BOUNDARIES = (bounce, stop, periodic)


@jax.jit
def apply_boundary(kind, x):
    moved = jax.lax.switch(kind, BOUNDARIES, x)
    safe = jnp.where(x > 0, x, 1.0)
    return jax.lax.cond(kind == 0, lambda: moved, lambda: jnp.where(x > 0, 1.0 / safe, 0.0))


print(jax.grad(lambda x: apply_boundary(2, x).sum())(jnp.linspace(-1.0, 2.0, 5)))
