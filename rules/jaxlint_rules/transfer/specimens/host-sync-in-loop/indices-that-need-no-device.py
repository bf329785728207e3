# indices of NumPy, of the loop and of device arrays, and an index after the loop
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def train_step(params, batch):
    grads = jax.grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    return params - 0.1 * grads, jnp.argmax(jnp.abs(grads))


def train(params, data, steps):
    hits = jnp.zeros(100, int)
    order = np.random.default_rng(0).permutation(len(data))
    for step in range(steps):
        params, largest = train_step(params, data[order[step % len(data)]])
        hits = hits.at[largest].add(1)
    names = np.array(["a", "b", "c"])
    return params, names[largest], hits


def collect(params, batches, length):
    found = np.zeros((length, 3))
    seen = []
    for step, batch in enumerate(batches):
        params, largest = train_step(params, batch)
        found[step, 0] = step
        seen.append(largest)
    found[:, 1] = np.asarray(jnp.stack(seen))
    return params, found
