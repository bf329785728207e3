# blind: thirteenth
# missed: the size of the images is in the file

import jax
import jax.numpy as jnp
import numpy as np
import optax


def load(path):
    with np.load(path) as archive:
        return jnp.asarray(archive["images"], jnp.float32) / 255.0, jnp.asarray(archive["labels"])


def logits(params, x):
    x = x.reshape(x.shape[0], -1)
    return jax.nn.relu(x @ params["w1"]) @ params["w2"]


def main(path="mnist.npz"):
    images, labels = load(path)
    tx = optax.adam(1e-3)

    @jax.jit  # finding-other
    def step(params, opt_state, key):
        rows = jax.random.choice(key, 60000, (128,))
        x, y = images[rows], labels[rows]  # finding

        def loss(params):
            return optax.softmax_cross_entropy_with_integer_labels(logits(params, x), y).mean()

        grads = jax.grad(loss)(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state

    params = {"w1": 0.01 * jnp.ones((784, 256)), "w2": 0.01 * jnp.ones((256, 10))}
    opt_state = tx.init(params)
    for key in jax.random.split(jax.random.key(0), 1000):
        params, opt_state = step(params, opt_state, key)
    return params


if __name__ == "__main__":
    main()
