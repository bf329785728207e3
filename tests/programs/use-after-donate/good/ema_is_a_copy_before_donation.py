# source: jax-ml/jax#9635
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, ema, x):
    params = params - 0.1 * jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    return params, 0.99 * ema + 0.01 * params


def train(params, batches):
    ema = jnp.copy(params)
    for x in batches:
        params, ema = train_step(params, ema, x)
    return params, ema


if __name__ == "__main__":
    print(train(jnp.ones(3), [jnp.ones((2, 3))] * 3))
