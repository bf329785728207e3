# source: jax-ml/jax#24511
# blind: first

import jax
import jax.numpy as jnp


def backtrack(f, x, direction, max_halvings=10):
    t, fx = 1.0, f(x)
    for _ in range(max_halvings):
        candidate = x + t * direction
        if f(candidate) < fx:  # finding
            return candidate
        t *= 0.5
    return x


def descend(x):
    f = lambda v: jnp.sum((v - 3.0) ** 2)
    return jax.lax.fori_loop(0, 5, lambda _, v: backtrack(f, v, -jax.grad(f)(v)), x)


if __name__ == "__main__":
    print(descend(jnp.zeros(2)))
