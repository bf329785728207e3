# source: jax-ml/jax#4274

import jax
import jax.numpy as jnp


def loss_fn(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@jax.jit
def update(w, history, x, y):
    loss, grad = jax.value_and_grad(loss_fn)(w, x, y)
    worst = jnp.max(jnp.stack([loss, *history.values()]))
    step = 0.1 * jnp.where(loss >= worst, 0.5, 1.0)
    return w - step * grad, loss


def fit(w, data):
    history = {}
    for epoch, (x, y) in enumerate(data):
        w, loss = update(w, history, x, y)  # finding
        history[f"epoch_{epoch}"] = loss  # finding-also
    return w, history


if __name__ == "__main__":
    x = jnp.arange(12.0).reshape(4, 3) / 12
    print(fit(jnp.zeros(3), [(x, x.sum(1))] * 10)[0])
