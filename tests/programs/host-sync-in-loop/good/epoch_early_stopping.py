# source: google/flax#2012

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit  # finding-other
def run_epoch(w, xs, ys):
    def body(w, batch):
        x, y = batch
        loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
        return w - 0.1 * grad, loss

    w, losses = jax.lax.scan(body, w, (xs, ys))
    return w, losses.mean()


def fit(w, xs, ys, max_epochs=20, patience=3):
    best, stale = np.inf, 0
    for _ in range(max_epochs):
        w, loss = run_epoch(w, xs, ys)
        value = float(loss)  # jaxlint: ignore[host-sync-in-loop]
        if value < best - 1e-6:
            best, stale = value, 0
        else:
            stale += 1
        if stale >= patience:
            break
    return w


if __name__ == "__main__":
    print(fit(jnp.zeros(3), jnp.ones((4, 5, 3)), jnp.ones((4, 5))))
