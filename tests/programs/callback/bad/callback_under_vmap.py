# source: jax-ml/jax#23881
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


def interp_on_host(x):
    return np.interp(x, np.linspace(0, 1, 11), np.linspace(0, 1, 11) ** 2).astype(np.float32)


def lookup(x):
    return jax.pure_callback(interp_on_host, jax.ShapeDtypeStruct((), jnp.float32), x)  # finding


@jax.jit
def render(rays):
    return jax.vmap(lookup)(rays)  # finding-also


if __name__ == "__main__":
    print(render(jnp.linspace(0.0, 1.0, 5)))
