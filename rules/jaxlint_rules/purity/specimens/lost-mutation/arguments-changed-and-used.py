# what is changed and returned, or used inside, and what is changed for the caller as well

from functools import partial

import jax
import jax.numpy as jnp
from flax import nnx


@jax.jit
def add_targets(batch, gamma):
    batch["target"] = batch["reward"] + gamma * batch["next_value"]
    return batch


@jax.jit
def normalised(params, batch):
    batch["x"] = batch["x"] / 255.0
    return batch["x"] @ params


@jax.jit
def copied(stats, x):
    stats = dict(stats)
    stats["mean"] = x.mean()


@jax.jit
def swap(a_ref, b_ref):
    a = a_ref[...]
    a_ref[...] = b_ref[...]
    b_ref[...] = a


def add_noise(state, key):
    state["x"] = state["x"] + jax.random.normal(key, state["x"].shape)


@jax.jit
def step(state, key):
    add_noise(state, key)
    return state


@nnx.jit
def count(model, x):
    model.seen = x


@partial(jax.jit, static_argnames="log")
def traced(x, log):
    log.append("traced")
    return x
