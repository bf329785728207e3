# source: jax-ml/jax#415
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def crop_or_pad(x, flag):
    return jax.lax.cond(  # finding
        flag,
        lambda v: v[:4],
        lambda v: jnp.pad(v, (0, 4)),
        x,
    )


if __name__ == "__main__":
    print(crop_or_pad(jnp.ones(8), True))
