# source: jax-ml/jax#9931
# blind: eighth

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def gaps(seconds):
    return jnp.diff(seconds)


def read_log(lines):
    millis = np.array([int(line.split(",")[0]) for line in lines], dtype=np.int64)
    relative = (millis - millis[0]).astype(np.float64) / 1000.0
    return jnp.asarray(relative, dtype=jnp.float32)


if __name__ == "__main__":
    print(gaps(read_log([f"{1700000000000 + i},x" for i in range(4)])))
