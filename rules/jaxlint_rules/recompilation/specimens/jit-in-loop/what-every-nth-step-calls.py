# what every n-th step calls

import jax
import jax.numpy as jnp
from jax import lax

def average(state):  # no call stands before this
    mean = jax.pmap(lambda x: lax.pmean(x, "x"), "x")  # finding
    return {**state, "statistics": mean(state["statistics"])}

def evaluate(params, keys):
    def rollout(params, key):
        return jnp.sum(params["w"] * jax.random.normal(key, (3,)))

    run = jax.jit(jax.vmap(rollout, in_axes=(None, 0)))  # finding
    return run(params, keys).mean()

def train(state, params, batches, steps_per_epoch, eval_every, key):
    for step, batch in enumerate(batches):
        params = jax.tree.map(lambda x: x - batch.mean(), params)
        if (step + 1) % steps_per_epoch == 0:
            state = average(state)
        if eval_every > 0 and step % eval_every == 0:
            key, sub = jax.random.split(key)
            print(evaluate(params, jax.random.split(sub, 8)))
    return state, params

def train_and_show(params, batches):
    for step, batch in enumerate(batches):
        params = jax.tree.map(lambda x: x - batch.mean(), params)
        if step % 100 == 0:
            norm = jax.jit(lambda p: jnp.sqrt(jnp.sum(p["w"] ** 2)))  # finding
            print(norm(params))
    return params
