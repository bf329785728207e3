# the results of a step that a loop of their names adds up, and a step that a setting chose; every N steps

import jax
import jax.numpy as jnp


@jax.jit
def train_step(params, batch):
    loss = jnp.mean((batch @ params) ** 2)
    return params - 0.1 * loss, {"loss": loss, "norm": jnp.sum(params)}


def train(params, batches):
    totals = {"loss": 0.0, "norm": 0.0}
    for batch in batches:
        params, metrics = train_step(params, batch)
        for name in totals:
            totals[name] += float(metrics[name])  # finding
    return params, totals


def train_on_device(params, batches):
    totals = {"loss": 0.0, "norm": 0.0}
    for batch in batches:
        params, metrics = train_step(params, batch)
        for name in totals:
            totals[name] += metrics[name]
    return params, {name: float(value) for name, value in totals.items()}


def train_chosen(step_fn, state, batches, devices):
    step = jax.jit(step_fn)
    if devices > 1:
        step = jax.pmap(step, axis_name="devices")
    for batch in batches:
        state, metrics = jax.device_get(step(state, batch))  # finding
        print(metrics)
    return state


def compare(functions, x):
    for function in functions:
        chosen = jax.jit(function) if x.ndim > 1 else jax.jit(jnp.sum)
        print(float(chosen(x)))


def train_quietly(params, batches):
    for step, batch in enumerate(batches):
        params, metrics = train_step(params, batch)
        print(step, metrics["loss"]) if step % 100 == 0 else None
        shown = float(metrics["norm"]) if step % 100 == 0 else 0.0
        print(shown)
    return params
