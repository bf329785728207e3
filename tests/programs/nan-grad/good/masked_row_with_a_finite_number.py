# blind: ninth

import jax
import jax.numpy as jnp
from flax import linen as nn


class CausalAttention(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, valid):
        q, k, v = (nn.Dense(self.width, name=n)(x) for n in "qkv")
        scores = jnp.einsum("bqd,bkd->bqk", q, k) / self.width**0.5
        causal = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
        scores = jnp.where(causal, scores, -jnp.inf)
        weights = nn.softmax(scores, axis=-1)
        padded = jnp.where(valid[:, None, :], scores, jnp.finfo(scores.dtype).min)
        return (weights + nn.softmax(padded, axis=-1)) @ v


if __name__ == "__main__":
    model = CausalAttention(8)
    x = jnp.ones((2, 5, 8))
    valid = jnp.arange(5)[None] < jnp.array([[5], [3]])
    params = model.init(jax.random.key(0), x, valid)
    print(jax.grad(lambda p: model.apply(p, x, valid).sum())(params)["params"]["v"]["bias"])
