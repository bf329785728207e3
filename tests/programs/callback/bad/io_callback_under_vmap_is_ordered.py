# source: jax-ml/jax#13759
# blind: sixth

"""Rows streamed to a sink from a vectorised simulator."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback


class Sink:
    def __init__(self):
        self.rows = []

    def write(self, row):
        self.rows.append(np.asarray(row))


def simulate(sink, x0, key):
    noise = jax.random.normal(key, x0.shape)
    x = jnp.sin(x0) + 0.1 * noise
    io_callback(sink.write, None, x, ordered=True)  # finding
    return x


def main():
    sink = Sink()
    run = jax.jit(jax.vmap(functools.partial(simulate, sink)))
    out = run(jnp.ones((4, 3)), jax.random.split(jax.random.key(0), 4))
    jax.effects_barrier()
    print(out.shape, len(sink.rows))


if __name__ == "__main__":
    main()
