# source: unifyai/ivy#10477
# blind: eighth

import jax
import jax.numpy as jnp
import numpy as np


def to_numpy(tree):
    def convert(x):
        if isinstance(x, jax.interpreters.xla.DeviceArray):  # finding
            return np.asarray(x)
        return x

    return jax.tree.map(convert, tree)


if __name__ == "__main__":
    print(to_numpy({"a": jnp.ones(2), "b": 3}))
