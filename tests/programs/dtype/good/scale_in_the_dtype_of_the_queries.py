# source: jax-ml/jax#4718
# blind: eighth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Attention(nn.Module):
    @nn.compact
    def __call__(self, x):
        d = x.shape[-1]
        q, k, v = jnp.split(nn.Dense(3 * d, dtype=x.dtype)(x), 3, axis=-1)
        scores = jnp.einsum("btd,bsd->bts", q, k) * d**-0.5
        weights = jax.nn.softmax(scores.astype(jnp.float32)).astype(x.dtype)
        return jnp.einsum("bts,bsd->btd", weights, v)


if __name__ == "__main__":
    model = Attention()
    x = jnp.ones((2, 4, 8), jnp.bfloat16)
    print(model.apply(model.init(jax.random.key(0), x), x).dtype)
