# source: jax-ml/jax#9931
# blind: eighth

import time

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def gaps(stamps):
    return jnp.diff(stamps)


def read_log(lines):
    millis = np.array([int(line.split(",")[0]) for line in lines])
    return jnp.array(millis, dtype=jnp.int64)  # finding


if __name__ == "__main__":
    now = int(time.time())
    print(gaps(read_log([f"{now + i},x" for i in range(4)])))
