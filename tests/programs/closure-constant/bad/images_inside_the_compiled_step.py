# blind: tenth

import jax
import jax.numpy as jnp
import numpy as np

images = jnp.asarray(np.zeros((20_000, 28, 28), np.float32))


@jax.jit
def loss_of(w, index):
    x = images[index].reshape(-1)  # finding
    return jnp.mean((x @ w) ** 2)


w = jnp.ones((784, 10))
print(loss_of(w, 3))
