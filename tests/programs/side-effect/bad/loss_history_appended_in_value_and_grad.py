# source: jax-ml/jax#5492
# blind: eighth

import jax
import jax.numpy as jnp
import numpy as np

history = []


def objective(w, x, y):
    residual = x @ w - y
    loss = jnp.mean(residual**2)
    history.append(loss)  # finding
    return loss


@jax.jit
def update(w, x, y):
    return w - 0.1 * jax.grad(objective)(w, x, y)


if __name__ == "__main__":
    w = jnp.zeros(3)
    for _ in range(4):
        w = update(w, jnp.ones((8, 3)), jnp.ones(8))
    print(np.array(history))  # finding-also
