# conversions and tests on results of the step

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(w, batch):
    loss = jnp.mean((batch @ w) ** 2)
    return w - 0.1 * jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(w), {"loss": loss}

def floats(w, batches):
    history = []
    for batch in batches:
        w, metrics = step(w, batch)
        history.append((0, float(metrics["loss"])))  # finding
    return w, history

def arrays(w, batches):
    hits = 0
    for batch in batches:
        w, metrics = step(w, batch)
        hits += np.asarray(metrics["loss"])  # finding
    return w, hits

def largest(w, batches):
    for batch in batches:
        w, metrics = step(w, batch)
        worst = max(0.0, metrics["loss"])  # finding
    return w, worst

def until(w, batches):
    for batch in batches:
        w, metrics = step(w, batch)
        if metrics["loss"] < 1e-3:  # finding
            w = w * 2
    return w

def several(w, batches):
    history = []
    for batch in batches:
        w, metrics = step(w, batch)
        print(f"{float(metrics['loss'])} {float(metrics['loss']) ** 2}")  # finding
        history.append(float(metrics["loss"]))
    return w, history
