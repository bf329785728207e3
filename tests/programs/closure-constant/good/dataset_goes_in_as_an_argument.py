# blind: fifth

import jax
import jax.numpy as jnp
import numpy as np

CLASSES = jnp.arange(10)


def load(n, seed=0):
    rng = np.random.default_rng(seed)
    return jnp.asarray(rng.normal(size=(n, 784)), jnp.float32), jnp.asarray(rng.integers(0, 10, size=n))


def train_step(params, images, labels, index):
    x, y = images[index], labels[index]

    def loss_fn(p):
        log_p = jax.nn.log_softmax(x @ p["w"] + p["b"])
        return -jnp.mean(jnp.sum(log_p * (y[:, None] == CLASSES), axis=1))

    grads = jax.grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


train_step = jax.jit(train_step, donate_argnums=0)


def main(steps=3, batch_size=128):
    images, labels = load(20000)
    params = {"w": jnp.zeros((784, 10)), "b": jnp.zeros(10)}
    rng = np.random.default_rng(1)
    for _ in range(steps):
        index = jnp.asarray(rng.integers(0, len(images), size=batch_size))
        params = train_step(params, images, labels, index)
    print(jnp.abs(params["w"]).mean())


if __name__ == "__main__":
    main()
