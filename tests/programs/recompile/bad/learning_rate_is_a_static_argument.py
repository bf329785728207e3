# source: google/flax#1966
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp
import optax


@partial(jax.jit, static_argnames=("lr",))  # finding-also
def sgd_step(params, x, y, lr):
    grads = jax.grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)
    return params - lr * grads


def train(params, batches):
    schedule = optax.cosine_decay_schedule(0.1, 100)
    for i, (x, y) in enumerate(batches):
        params = sgd_step(params, x, y, lr=float(schedule(i)))  # finding
    return params


if __name__ == "__main__":
    batches = [(jnp.ones((4, 3)), jnp.zeros(4))] * 5
    print(train(jnp.ones(3), batches))
