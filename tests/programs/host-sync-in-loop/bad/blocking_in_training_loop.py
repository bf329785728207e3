# source: google/maxtext#250
# blind: first
# missed: not found yet

import time

import jax
import jax.numpy as jnp


def make_train_step(loss_fn, lr):
    def one(params, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads), loss

    return jax.jit(one, donate_argnums=0)


def run(params, batches, loss_fn):
    train_step = make_train_step(loss_fn, 0.1)
    last = time.time()
    for batch in batches:
        params, loss = train_step(params, batch)
        loss.block_until_ready()  # finding
        now = time.time()
        print("seconds", now - last)
        last = now
    return params


if __name__ == "__main__":
    run(jnp.ones(3), [jnp.ones((2, 3))] * 3, lambda p, b: jnp.mean((b @ p) ** 2))
