# source: jax-ml/jax#2521

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def spectrum(x):
    return jnp.abs(jnp.fft.rfft(x)) ** 2


def analyse(recording, size, hop):
    powers = []
    for start in range(0, len(recording) - size + 1, hop):
        powers.append(spectrum(recording[start : start + size]).mean())
    return jnp.stack(powers)


if __name__ == "__main__":
    print(analyse(np.ones(500, np.float32), 64, 32))
