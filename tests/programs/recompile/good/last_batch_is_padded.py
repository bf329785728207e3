# blind: tenth

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def correct(w, x, y, mask):
    return jnp.sum((jnp.argmax(x @ w, axis=1) == y) * mask)


def evaluate(w, x, y, size=64):
    total = jnp.zeros(())
    for lo in range(0, len(x), size):
        xb, yb = x[lo : lo + size], y[lo : lo + size]
        missing = size - len(xb)
        mask = np.pad(np.ones(len(xb)), (0, missing))
        xb = np.pad(xb, ((0, missing), (0, 0)))
        yb = np.pad(yb, (0, missing))
        total = total + correct(w, xb, yb, mask)
    return float(total) / len(x)


print(evaluate(jnp.ones((4, 3)), np.ones((150, 4), np.float32), np.zeros(150, np.int32)))
