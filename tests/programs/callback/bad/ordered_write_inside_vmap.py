# source: jax-ml/jax#20628
# blind: second

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback


class TrajectoryWriter:
    def __init__(self):
        self.rows = []

    def write(self, step, x):
        self.rows.append((int(step), np.asarray(x)))


WRITER = TrajectoryWriter()


def langevin(key, x0, steps, rate):
    def energy(x):
        return 0.5 * jnp.sum(x**2)

    def body(x, inputs):
        step, key = inputs
        noise = jax.random.normal(key, x.shape)
        x = x - rate * jax.grad(energy)(x) + jnp.sqrt(2 * rate) * noise
        io_callback(WRITER.write, None, step, x, ordered=True)  # finding
        return x, energy(x)

    return jax.lax.scan(body, x0, (jnp.arange(steps), jax.random.split(key, steps)))


def chains(key, count, dim):
    keys = jax.random.split(key, count)
    start = jnp.zeros((count, dim))
    run = jax.vmap(langevin, in_axes=(0, 0, None, None))  # finding-also
    return run(keys, start, 5, 0.1)  # finding-also


if __name__ == "__main__":
    print(chains(jax.random.key(0), 3, 2)[1].shape)
