# source: google/flax#1050
# blind: first

import functools

import jax
import jax.numpy as jnp


def loss(params, batch):
    return jnp.mean((batch["x"] @ params - batch["y"]) ** 2)


@functools.partial(jax.pmap, axis_name="devices", donate_argnums=(0,))
def update(params, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    value = jax.lax.pmean(value, "devices")
    return params - 0.1 * grads, value  # finding


def train(params, batches):
    n = jax.local_device_count()
    params = jnp.broadcast_to(params, (n, *params.shape))
    for batch in batches:
        params, value = update(params, batch)
    return params[0]


if __name__ == "__main__":
    n = jax.local_device_count()
    b = {"x": jnp.ones((n, 4, 3)), "y": jnp.ones((n, 4))}
    print(train(jnp.ones(3), [b, b]))
