# a donated parameter that the function does not read, which jit drops, so that its buffer stays

import jax
import jax.numpy as jnp
from functools import partial


@partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, metrics, x):
    return params - x, {"loss": jnp.sum(params * x)}


@partial(jax.jit, donate_argnums=(0, 1))
def train_step_adding(params, metrics, x):
    return params - x, {"loss": metrics["loss"] + jnp.sum(params * x)}


@partial(jax.jit, donate_argnums=(0, 1), keep_unused=True)
def train_step_keeping(params, metrics, x):
    return params - x, {"loss": jnp.sum(params * x)}


def run(params, batches):
    metrics, losses = {"loss": jnp.zeros(())}, []
    for x in batches:
        params, metrics = train_step(params, metrics, x)
        losses.append(metrics["loss"])
    return params, losses


def run_adding(params, batches):
    metrics, losses = {"loss": jnp.zeros(())}, []
    for x in batches:
        params, metrics = train_step_adding(params, metrics, x)
        losses.append(metrics["loss"])
    return params, losses  # finding


def run_keeping(params, batches):
    metrics, losses = {"loss": jnp.zeros(())}, []
    for x in batches:
        params, metrics = train_step_keeping(params, metrics, x)
        losses.append(metrics["loss"])
    return params, losses  # finding
