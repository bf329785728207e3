# source: google/flax#1177
# blind: sixth
# missed: what flax's replicate gives is not followed to where it is used

"""pmap training followed by an evaluation without it."""
import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import jax_utils

model = nn.Dense(3)


@functools.partial(jax.pmap, axis_name="devices")
def train_step(params, x, y):
    def loss(p):
        return jnp.mean((model.apply(p, x) - y) ** 2)

    grads = jax.lax.pmean(jax.grad(loss)(params), "devices")
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def main():
    n = jax.local_device_count()
    params = model.init(jax.random.key(0), jnp.ones((1, 4)))
    params = jax_utils.replicate(params)
    for _ in range(2):
        params = train_step(params, jnp.ones((n, 2, 4)), jnp.zeros((n, 2, 3)))
    held_out = jnp.ones((5, 4))
    print(model.apply(params, held_out))  # finding


if __name__ == "__main__":
    main()
