# source: jax-ml/jax#16278
# blind: fifth

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
IMAGES = jnp.asarray(rng.normal(size=(20000, 784)), dtype=jnp.float32)
LABELS = jnp.asarray(rng.integers(0, 10, size=20000))


def logits_fn(params, x):
    return x @ params["w"] + params["b"]


@jax.jit
def train_step(params, index):
    x, y = IMAGES[index], LABELS[index]  # finding

    def loss_fn(p):
        log_p = jax.nn.log_softmax(logits_fn(p, x))
        return -jnp.mean(jnp.take_along_axis(log_p, y[:, None], axis=1))

    grads = jax.grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def main(steps=3, batch_size=128):
    params = {"w": jnp.zeros((784, 10)), "b": jnp.zeros(10)}
    for step in range(steps):
        index = jnp.asarray(rng.integers(0, 20000, size=batch_size))
        params = train_step(params, index)
    print(jnp.abs(params["w"]).mean())


if __name__ == "__main__":
    main()
