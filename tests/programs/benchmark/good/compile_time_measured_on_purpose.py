# source: iree-org/iree-comparative-benchmark#78
# blind: eighth

import time

import jax
import jax.numpy as jnp


def block(x, w):
    return jax.nn.gelu(x @ w)


def report(x, w):
    t0 = time.perf_counter()
    compiled = jax.jit(block).lower(x, w).compile()
    compile_seconds = time.perf_counter() - t0
    t0 = time.perf_counter()
    jax.block_until_ready(compiled(x, w))
    run_seconds = time.perf_counter() - t0
    print(f"compile {compile_seconds:.3f}s, run {run_seconds:.6f}s")


if __name__ == "__main__":
    report(jnp.ones((8, 16)), jnp.ones((16, 4)))
