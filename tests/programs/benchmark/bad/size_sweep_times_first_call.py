# source: jax-ml/jax#5879
# blind: eighteenth
# missed: the sizes differ only where the caller says so

import time

import jax
import jax.numpy as jnp


@jax.jit
def power_iteration(mat):
    def body(_, v):
        v = mat @ v
        return v / jnp.linalg.norm(v)

    v0 = jnp.ones(mat.shape[0]) / mat.shape[0] ** 0.5
    v = jax.lax.fori_loop(0, 50, body, v0)
    return v @ mat @ v


def random_spd(key, n):
    a = jax.random.normal(key, (n, n))
    return a @ a.T / n


def scaling_study(sizes):
    rows = []
    for n in sizes:
        mat = jax.block_until_ready(random_spd(jax.random.key(n), n))
        start = time.perf_counter()
        top = power_iteration(mat).block_until_ready()  # finding
        rows.append((n, time.perf_counter() - start, top))  # finding-also
    return rows


def main():
    power_iteration(jnp.eye(4)).block_until_ready()  # warm up the backend
    for n, seconds, top in scaling_study([32, 64, 128]):
        print(f"n={n:5d}  {seconds * 1e3:8.2f} ms  lambda={float(top):.3f}")


if __name__ == "__main__":
    main()
