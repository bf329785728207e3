# blind: every clause

import jax
import jax.numpy as jnp


def minimise(fun, x0, *, transform=jax.jit, iters=3):
    step = transform(lambda x: x - 0.1 * jax.grad(fun)(x))
    for _ in range(iters):
        x0 = step(x0)
    return x0


def objective(x):
    r = x @ x
    if r > 1:  # finding
        return jnp.log(r)
    return r


print(minimise(objective, jnp.ones(2)))
