# source: jax-ml/jax#192

import jax
import jax.numpy as jnp


def perturb(params, key, sigma):
    """Antithetic perturbation for evolution strategies."""
    noise = jax.tree.map(lambda p: jax.random.normal(key, p.shape), params)  # finding
    plus = jax.tree.map(lambda p, n: p + sigma * n, params, noise)
    minus = jax.tree.map(lambda p, n: p - sigma * n, params, noise)
    return plus, minus, noise


def fitness(params, x):
    return -jnp.mean((jnp.tanh(x @ params["a"]) @ params["b"] - 1.0) ** 2)


@jax.jit
def es_step(params, key, x, sigma=0.1, lr=0.05):
    plus, minus, noise = perturb(params, key, sigma)
    gain = (fitness(plus, x) - fitness(minus, x)) / (2 * sigma)
    return jax.tree.map(lambda p, n: p + lr * gain * n, params, noise)


if __name__ == "__main__":
    params = {"a": jnp.zeros((3, 3)), "b": jnp.zeros((3, 3))}
    key = jax.random.key(0)
    for i in range(3):
        params = es_step(params, jax.random.fold_in(key, i), jnp.ones((4, 3)))
    print(params)
