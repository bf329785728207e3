# source: jax-ml/jax#2251
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames=("sizes",))
def unpack(flat, sizes):
    out, start = [], 0
    for size in sizes:
        out.append(flat[start : start + size])
        start += size
    return out


def main():
    layers = [np.zeros((3, 2)), np.zeros(2)]
    buffer = np.zeros(sum(p.size for p in layers), np.float32)
    buffer[:2] = 1.0
    print(unpack(jnp.asarray(buffer), sizes=tuple(p.size for p in layers)))


if __name__ == "__main__":
    main()
