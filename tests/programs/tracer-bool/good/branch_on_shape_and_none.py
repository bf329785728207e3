# source: jax-ml/jax#1534
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def pool(x, mask=None):
    if mask is None:
        mask = jnp.ones(x.shape[:-1], x.dtype)
    if x.ndim == 2:
        x, mask = x[None], mask[None]
    weights = mask / jnp.maximum(mask.sum(-1, keepdims=True), 1e-6)
    if x.shape[-1] % 2:
        x = jnp.pad(x, ((0, 0), (0, 0), (0, 1)))
    return jnp.einsum("btd,bt->bd", x, weights)


if __name__ == "__main__":
    print(pool(jnp.ones((4, 3))).shape, pool(jnp.ones((2, 4, 3)), jnp.ones((2, 4))).shape)
