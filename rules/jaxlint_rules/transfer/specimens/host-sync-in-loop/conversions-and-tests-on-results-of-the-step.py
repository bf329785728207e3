# conversions and tests on results of the step

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(w, batch):
    loss = jnp.mean((batch @ w) ** 2)
    return w - 0.1 * jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(w), {"loss": loss}

def train(w, batches):
    history, hits = [], 0
    for batch in batches:
        w, metrics = step(w, batch)
        history.append(float(metrics["loss"]))  # finding
        hits += np.asarray(metrics["loss"])  # finding
        worst = max(0.0, metrics["loss"])  # finding
        if metrics["loss"] < 1e-3:  # finding
            break
    return w, history, hits, worst
