# source: jax-ml/jax#5815
# blind: fifth

import time

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def pairwise_energy(positions):
    delta = positions[:, None, :] - positions[None, :, :]
    r2 = jnp.sum(delta**2, axis=-1) + jnp.eye(positions.shape[0])
    return jnp.sum(1.0 / r2**6 - 1.0 / r2**3)


def scaling_study(sizes):
    rng = np.random.default_rng(0)
    rows = []
    for n in sizes:
        positions = jnp.asarray(rng.uniform(size=(n, 3)) * n)
        t0 = time.perf_counter()
        energy = pairwise_energy(positions)  # finding-also
        energy.block_until_ready()
        rows.append((n, time.perf_counter() - t0))  # finding
    return rows


if __name__ == "__main__":
    for n, seconds in scaling_study([32, 64, 128]):
        print(f"{n:5d} particles: {1e3 * seconds:.2f} ms")
