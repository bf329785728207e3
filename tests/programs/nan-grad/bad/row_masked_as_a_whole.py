# blind: ninth

import jax
import jax.numpy as jnp
from flax import linen as nn


class PaddedAttention(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, valid):
        q, k, v = (nn.Dense(self.width, name=n)(x) for n in "qkv")
        scores = jnp.einsum("bqd,bkd->bqk", q, k) / self.width**0.5
        pair = valid[:, :, None] & valid[:, None, :]
        scores = jnp.where(pair, scores, -jnp.inf)
        weights = nn.softmax(scores, axis=-1)  # finding
        return jnp.einsum("bqk,bkd->bqd", weights, v)


def loss(params, model, x, valid):
    out = model.apply(params, x, valid)
    return jnp.sum(jnp.where(valid[..., None], out, 0.0) ** 2)


if __name__ == "__main__":
    model = PaddedAttention(8)
    x = jnp.ones((2, 5, 8))
    valid = jnp.arange(5)[None] < jnp.array([[5], [3]])
    params = model.init(jax.random.key(0), x, valid)
    print(jax.grad(loss)(params, model, x, valid)["params"]["v"]["bias"])
