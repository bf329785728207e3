# source: jax-ml/jax#1219
# blind: eighteenth

import time

import jax
import jax.numpy as jnp
import numpy as np


def attention_np(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[-1])
    s = np.exp(s - s.max(-1, keepdims=True))
    return (s / s.sum(-1, keepdims=True)) @ v


@jax.jit
def attention_jax(q, k, v):
    s = q @ k.T / jnp.sqrt(q.shape[-1])
    return jax.nn.softmax(s, axis=-1) @ v


def bench(fn, args, repeats=10):
    fn(*args)  # warm-up (compiles)
    times = []
    for _ in range(repeats):
        t0 = time.perf_counter()
        fn(*args)  # finding-also
        times.append(time.perf_counter() - t0)  # finding
    return float(np.median(times))


def main():
    rng = np.random.default_rng(0)
    host = [rng.normal(size=(256, 64)).astype(np.float32) for _ in range(3)]
    device = [jax.device_put(a) for a in host]
    t_np = bench(attention_np, host)
    t_jax = bench(attention_jax, device)
    print(f"numpy {t_np:.2e}s jax {t_jax:.2e}s speedup {t_np / t_jax:.1f}x")


if __name__ == "__main__":
    main()
