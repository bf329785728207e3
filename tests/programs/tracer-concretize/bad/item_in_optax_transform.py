# source: google-deepmind/optax#577
# blind: first

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class NoiseState(NamedTuple):
    count: jax.Array
    key: jax.Array


def annealed_noise(eta, gamma):
    def init_fn(params):
        return NoiseState(jnp.zeros([], jnp.int32), jax.random.key(0))

    def update_fn(updates, state, params=None):
        del params
        std = eta / (1 + state.count.item()) ** gamma  # finding
        key, sub = jax.random.split(state.key)
        leaves, treedef = jax.tree.flatten(updates)
        keys = jax.random.split(sub, len(leaves))
        noisy = [g + std * jax.random.normal(k, g.shape) for g, k in zip(leaves, keys)]
        return jax.tree.unflatten(treedef, noisy), NoiseState(state.count + 1, key)

    return optax.GradientTransformation(init_fn, update_fn)


optimizer = optax.chain(annealed_noise(0.01, 0.55), optax.sgd(0.1))


@jax.jit
def step(params, state, x):
    grads = jax.grad(lambda p: jnp.sum((p * x) ** 2))(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state


if __name__ == "__main__":
    p = jnp.ones(3)
    print(step(p, optimizer.init(p), jnp.ones(3)))
