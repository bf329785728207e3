# source: jax-ml/jax#4718
# blind: eighth

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Attention(nn.Module):
    heads: int = 2

    @nn.compact
    def __call__(self, x):
        b, t, d = x.shape
        q, k, v = jnp.split(nn.Dense(3 * d, dtype=jnp.bfloat16)(x), 3, axis=-1)
        scale = np.float32(1.0 / np.sqrt(d))  # finding-also
        scores = jnp.einsum("btd,bsd->bts", q, k) * scale  # finding
        return jnp.einsum("bts,bsd->btd", jax.nn.softmax(scores), v)


if __name__ == "__main__":
    model = Attention()
    x = jnp.ones((2, 4, 8), jnp.bfloat16)
    params = model.init(jax.random.key(0), x)
    print(model.apply(params, x).dtype)
