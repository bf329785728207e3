# source: mlaux1/rl-blox#157

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("temperature", "hard"))
def gumbel_step(params, key, batch, temperature, hard=False):
    def loss(p):
        logits = batch @ p
        noise = jax.random.gumbel(key, logits.shape)
        soft = jax.nn.softmax((logits + noise) / temperature)
        if hard:
            one_hot = jax.nn.one_hot(soft.argmax(-1), soft.shape[-1])
            soft = one_hot + soft - jax.lax.stop_gradient(soft)
        return jnp.mean(jnp.sum(soft * batch[:, : soft.shape[-1]], -1))

    return params - 0.05 * jax.grad(loss)(params)


def anneal(step, start=1.0, floor=0.1, rate=0.97):
    return max(floor, start * rate**step)


def train(params, batches, seed=0):
    key = jax.random.key(seed)
    for step, batch in enumerate(batches):
        key, sub = jax.random.split(key)
        tau = anneal(step)
        params = gumbel_step(params, sub, batch, temperature=tau)  # finding
    return params


if __name__ == "__main__":
    print(train(jnp.ones((6, 3)), [jnp.ones((4, 6))] * 15))
