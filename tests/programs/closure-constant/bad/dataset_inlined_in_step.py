# source: google-deepmind/acme#285
# blind: first

import jax
import jax.numpy as jnp
import numpy as np

images = jnp.asarray(np.random.default_rng(0).random((60_000, 28 * 28), dtype=np.float32))
labels = jnp.asarray(np.random.default_rng(1).integers(0, 10, 60_000))


@jax.jit
def sgd_step(params, key):
    idx = jax.random.randint(key, (128,), 0, images.shape[0])
    x, y = images[idx], labels[idx]  # finding

    def loss(p):
        return -jnp.mean(jax.nn.log_softmax(x @ p)[jnp.arange(128), y])

    return params - 0.1 * jax.grad(loss)(params)


if __name__ == "__main__":
    params = jnp.zeros((28 * 28, 10))
    for key in jax.random.split(jax.random.key(0), 5):
        params = sgd_step(params, key)
    print(params.std())
