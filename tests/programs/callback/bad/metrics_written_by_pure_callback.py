# source: jax-ml/jax#11928
# blind: seventh

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import optax

LOG = pathlib.Path("metrics.jsonl")
optimizer = optax.sgd(0.1)


def write(step, loss):
    with LOG.open("a") as f:
        f.write(json.dumps({"step": int(step), "loss": float(loss)}) + "\n")
    return np.int32(0)


def loss_fn(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@jax.jit
def train(w, x, y):
    def body(carry, step):
        w, state = carry
        loss, grad = jax.value_and_grad(loss_fn)(w, x, y)
        jax.pure_callback(write, jax.ShapeDtypeStruct((), jnp.int32), step, loss)  # finding
        updates, state = optimizer.update(grad, state)
        return (optax.apply_updates(w, updates), state), None

    (w, _), _ = jax.lax.scan(body, (w, optimizer.init(w)), jnp.arange(50))
    return w


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (64, 4))
    print(train(jnp.zeros(4), x, x @ jnp.ones(4)), LOG.exists())
