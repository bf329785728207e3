# source: jax-ml/jax#1797
# blind: fourth

import time

import jax
import jax.numpy as jnp


class Stopwatch:
    def __init__(self, name):
        self.name = name
        self.laps = []

    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *exc):
        self.laps.append(time.perf_counter() - self.start)

    def mean_ms(self):
        return 1e3 * sum(self.laps) / len(self.laps)


@jax.jit
def log_psi(params, spins):
    h = jnp.log(jnp.cosh(spins @ params["w"] + params["b"]))
    return h.sum(-1)


def measure(params, spins, repeats=20):
    watch = Stopwatch("log_psi")
    log_psi(params, spins).block_until_ready()
    for _ in range(repeats):
        with watch:
            out = log_psi(params, spins).block_until_ready()
    print(watch.name, watch.mean_ms(), "ms")
    return out


if __name__ == "__main__":
    params = {"w": jnp.ones((256, 512)) * 0.01, "b": jnp.zeros(512)}
    print(measure(params, jnp.ones((512, 256))).shape)
