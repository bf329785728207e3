# views that NumPy has of an array

import jax
import jax.numpy as jnp
import numpy as np

def report(logits):
    probs = np.asarray(jax.nn.softmax(logits))
    probs /= probs.sum()  # finding
    fetched = jax.device_get(jnp.exp(logits))
    fetched[0] = 0.0  # finding
    fetched.reshape(-1, 2)[:, 0] = 1.0  # finding
    np.asarray(jnp.sort(logits)).sort()  # finding
    np.random.shuffle(np.asarray(jnp.arange(8)))  # finding
    copied = np.array(jax.nn.softmax(logits))
    copied[0] = 0.0
    wide = np.asarray(jnp.exp(logits), dtype=np.float64)
    wide[0] = 0.0
    again = probs * 2.0
    again[0] = 0.0
    host = np.asarray(logits)
    host[0] = 0.0
    picked = fetched[[0, 1]]
    picked[0] = 0.0
    return copied, wide, again, host, picked
