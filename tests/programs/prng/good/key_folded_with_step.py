# source: google/flax#2631
# blind: first

import jax
import jax.numpy as jnp


@jax.jit  # finding-other
def noisy_step(w, key, step):
    dropout_key = jax.random.fold_in(key, step)
    mask = jax.random.bernoulli(dropout_key, 0.9, w.shape)
    return w - 0.1 * jnp.where(mask, w, 0.0)


def train(w, key, steps):
    for step in range(steps):
        w = noisy_step(w, key, step)
    return w


if __name__ == "__main__":
    print(train(jnp.ones(8), jax.random.key(3), 4))
