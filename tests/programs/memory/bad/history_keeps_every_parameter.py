# source: patrick-kidger/equinox#673
# blind: second
# missed: keeping parameters may be what the program is for

import jax
import jax.numpy as jnp
import optax


class Recorder:
    """Keeps what the analysis after training needs."""

    def __init__(self):
        self.losses = []
        self.weights = []

    def __call__(self, params, loss):
        self.losses.append(loss)
        self.weights.append(params)  # finding

    def drift(self):
        first, last = self.weights[0], self.weights[-1]
        return optax.global_norm(jax.tree.map(lambda a, b: b - a, first, last))


def init(key, width=512):
    k1, k2 = jax.random.split(key)
    return {
        "in": jax.random.normal(k1, (16, width)) / 4,
        "out": jax.random.normal(k2, (width, 1)) / width**0.5,
    }


@jax.jit
def step(params, x):
    def loss_fn(p):
        return jnp.mean((jax.nn.relu(x @ p["in"]) @ p["out"]) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss


def train(params, steps, recorder):
    for key in jax.random.split(jax.random.key(1), steps):
        params, loss = step(params, jax.random.normal(key, (32, 16)))
        recorder(params, loss)  # finding-also
    return params


if __name__ == "__main__":
    recorder = Recorder()
    train(init(jax.random.key(0)), 10, recorder)
    print(recorder.drift())
