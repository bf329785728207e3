# source: dunnolab/xland-minigrid#42

import jax
import jax.numpy as jnp


def ppo_epoch(rng, params, data):
    rng, perm_rng = jax.random.split(rng)
    order = jax.random.permutation(perm_rng, data.shape[0])
    rng, noise_rng = jax.random.split(rng)
    noise = 0.01 * jax.random.normal(noise_rng, data.shape)
    batches = (data + noise)[order].reshape(2, -1, data.shape[1])

    def minibatch(p, x):
        return p - 0.1 * jax.grad(lambda p: jnp.mean((x @ p - 1.0) ** 2))(p), None

    params, _ = jax.lax.scan(minibatch, params, batches)
    return rng, params


@jax.jit
def train(rng, params, data):
    def body(carry, _):
        return ppo_epoch(*carry, data), None

    return jax.lax.scan(body, (rng, params), None, length=3)[0][1]


if __name__ == "__main__":
    print(train(jax.random.key(0), jnp.zeros(3), jnp.ones((8, 3))))
