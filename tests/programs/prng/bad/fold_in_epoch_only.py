# source: google/flax#3497

import jax
import jax.numpy as jnp


@jax.jit
def train_step(w, x, key):
    noise = 0.1 * jax.random.normal(key, x.shape)

    def loss(w):
        return jnp.mean(((x + noise) @ w - 1.0) ** 2)

    return w - 0.1 * jax.grad(loss)(w)


def fit(w, loader, n_epochs, seed):
    base = jax.random.key(seed)
    for epoch in range(n_epochs):
        epoch_key = jax.random.fold_in(base, epoch)
        for x in loader:
            w = train_step(w, x, epoch_key)  # finding
    return w


if __name__ == "__main__":
    print(fit(jnp.zeros(3), [jnp.ones((4, 3))] * 3, 2, 0))
