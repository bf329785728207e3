# source: jax-ml/jax#1705
# missed: not found yet

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=(0, 1))
def step(w, batch):
    def loss(w):
        recon = jnp.tanh(batch @ w) @ w.T
        return jnp.mean((recon - batch) ** 2), recon

    (value, recon), grad = jax.value_and_grad(loss, has_aux=True)(w)
    return w - 0.1 * grad, recon


def train(w, batches, n_epochs=2):
    for _ in range(n_epochs):
        for batch in batches:
            w, recon = step(w, batch)  # finding
    return w


if __name__ == "__main__":
    batches = [jnp.ones((4, 3)) * i for i in range(3)]
    print(train(jnp.eye(3), batches))
