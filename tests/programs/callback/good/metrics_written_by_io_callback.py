# source: jax-ml/jax#11928
# blind: seventh

import json
import pathlib

import jax
import jax.numpy as jnp
import optax
from jax.experimental import io_callback

LOG = pathlib.Path("metrics.jsonl")
optimizer = optax.sgd(0.1)


def write(step, loss):
    with LOG.open("a") as f:
        f.write(json.dumps({"step": int(step), "loss": float(loss)}) + "\n")


def loss_fn(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@jax.jit
def train(w, x, y):
    def body(carry, step):
        w, state = carry
        loss, grad = jax.value_and_grad(loss_fn)(w, x, y)
        io_callback(write, None, step, loss, ordered=True)
        updates, state = optimizer.update(grad, state)
        return (optax.apply_updates(w, updates), state), None

    (w, _), _ = jax.lax.scan(body, (w, optimizer.init(w)), jnp.arange(50))
    return w


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (64, 4))
    print(train(jnp.zeros(4), x, x @ jnp.ones(4)))
