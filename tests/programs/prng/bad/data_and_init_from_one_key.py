# source: scverse/pertpy#531

import jax
import jax.numpy as jnp


def make_regression(key, n, dim):
    x_key, noise_key = jax.random.split(key)
    x = jax.random.normal(x_key, (n, dim))
    return x, x.sum(1) + 0.1 * jax.random.normal(noise_key, (n,))


def init_params(key, dim, hidden):
    k1, k2 = jax.random.split(key)
    return {
        "w": jax.random.normal(k1, (dim, hidden)),
        "v": jax.random.normal(k2, (hidden,)),
    }


def experiment(seed, n=16, dim=4):
    key = jax.random.key(seed)
    x, y = make_regression(key, n, dim)
    params = init_params(key, dim, n)  # finding
    pred = jnp.tanh(x @ params["w"]) @ params["v"]
    return jnp.mean((pred - y) ** 2)


if __name__ == "__main__":
    print(experiment(0))
