# every N steps, after the loop, or without a jitted step

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(w, batch):
    loss = jnp.mean((batch @ w) ** 2)
    return w - 0.1 * loss, loss

def train(w, batches, epochs):
    for epoch in range(epochs):
        losses = []
        for i, batch in enumerate(batches):
            w, loss = step(w, batch)
            losses.append(loss)
            if i % 100 == 0:
                print(i, float(loss))
            if i % 100 == 0 and float(loss) > 1e3:
                raise ValueError(i)
        print(epoch, np.mean(jax.device_get(losses)))
    return w, float(loss)

def host_only(x, steps):
    for _ in range(steps):
        loss = np.mean(x**2)
        if loss < 1e-6 or float(loss) > 3:
            break
    return loss
