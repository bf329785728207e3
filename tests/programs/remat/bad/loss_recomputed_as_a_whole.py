# source: jax-ml/jax#1749
# blind: second

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class Layer(NamedTuple):
    kernel: jax.Array
    bias: jax.Array


def init(key, width, depth):
    keys = jax.random.split(key, depth)
    return [Layer(jax.random.normal(k, (width, width)) / width**0.5, jnp.zeros(width)) for k in keys]


def apply(layers, x):
    for layer in layers:
        x = x + jax.nn.relu(x @ layer.kernel + layer.bias)
    return x


@jax.checkpoint  # finding
def loss_fn(layers, x, y):
    return jnp.mean((apply(layers, x) - y) ** 2)


def make_train_step(tx):
    def train_step(layers, state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(layers, x, y)  # finding-also
        updates, state = tx.update(grads, state)
        return optax.apply_updates(layers, updates), state, loss

    return jax.jit(train_step, donate_argnums=(0, 1))


def main():
    tx = optax.adam(1e-3)
    layers = init(jax.random.key(0), 32, 6)
    state = tx.init(layers)
    step = make_train_step(tx)
    x = jax.random.normal(jax.random.key(1), (8, 32))
    for _ in range(3):
        layers, state, loss = step(layers, state, x, x)
    print(loss)


if __name__ == "__main__":
    main()
