# batches, data that changes, data on the device, numbers, conditions

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(w, x, rate=0.1):
    return w - rate * x.T @ (x @ w)

def train(w, path, batches, rng):
    features = np.loadtxt(path)
    rate = np.float32(0.1)
    for batch in batches:
        w = step(w, jax.device_put(batch))
    for _ in range(100):
        rows = rng.choice(len(features), 32)
        w = step(w, jnp.asarray(features[rows]))
    for i in range(100):
        features[i] = 0.0
        w = step(w, jnp.asarray(features))
    on_device = jnp.asarray(features)
    for i in range(100):
        w = step(w, on_device, rate)
        if i % 50 == 0:
            w = w + step(w, jnp.asarray(features))
    for device in jax.devices():
        print(jax.device_put(features, device).sum())
    return w
