# source: google/flax#3497

import jax
import jax.numpy as jnp


def make_rngs(seed):
    key = jax.random.PRNGKey(seed)
    return {"noise": key, "mask": key}


def corrupt(x, seed):
    rngs = make_rngs(seed)
    mask = jax.random.bernoulli(rngs["mask"], 0.5, x.shape)
    return x * mask + jax.random.normal(rngs["noise"], x.shape)  # finding


if __name__ == "__main__":
    print(corrupt(jnp.ones(4), 0))
