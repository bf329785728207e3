# source: jax-ml/jax#2287
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np


class TrajectoryRecorder:
    """Host-side ring buffer; plain numpy, so item assignment is fine."""

    def __init__(self, capacity, dim):
        self.data = np.zeros((capacity, dim), np.float32)
        self.head = 0

    def add(self, row):
        self.data[self.head % len(self.data)] = row
        self.head += 1

    def mean(self):
        return self.data[: min(self.head, len(self.data))].mean(axis=0)


def relax(u, hot):
    u = u.at[0].set(hot)
    u = u.at[-1].set(0.0)
    interior = 0.5 * (u[2:] + u[:-2])
    return u.at[1:-1].set(interior)


@jax.jit
def run(u, hot):
    def block(u, _):
        u = jax.lax.fori_loop(0, 20, lambda _, v: relax(v, hot), u)
        return u, u

    return jax.lax.scan(block, u, None, length=5)


def main():
    rec = TrajectoryRecorder(4, 8)
    u, snapshots = run(jnp.zeros(8), 1.0)
    for row in np.asarray(snapshots):
        rec.add(row)
    profile = np.array(u)
    profile[profile < 1e-3] = 0.0
    print(rec.mean(), profile)


if __name__ == "__main__":
    main()
