# source: jax-ml/jax#817
# blind: first
# missed: advice, since no loop calls it

import jax
import jax.numpy as jnp


def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)


per_example = jax.vmap(jax.jit(jax.grad(loss)), in_axes=(None, 0, 0))  # finding


def fisher(w, xs, ys):
    g = per_example(w, xs, ys)
    return g.T @ g / len(xs)


if __name__ == "__main__":
    print(fisher(jnp.ones(3), jnp.ones((10, 3)), jnp.ones(10)).shape)
