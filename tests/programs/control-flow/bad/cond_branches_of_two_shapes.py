# source: jax-ml/jax#15178
# blind: eighth

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def pool(x, use_mean):
    return lax.cond(  # finding
        use_mean,
        lambda v: v.mean(axis=0),  # finding-also
        lambda v: v.max(axis=0, keepdims=True),  # finding-also
        x,
    )


if __name__ == "__main__":
    print(pool(jnp.ones((4, 3)), True))
