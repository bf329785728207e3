# source: jax-ml/jax#6811
# blind: second
# missed: whether a row is masked as a whole is in the data; causal masks never are

import flax.linen as nn
import jax
import jax.numpy as jnp


def masked_softmax(scores, mask):
    scores = jnp.where(mask, scores, -jnp.inf)
    return jax.nn.softmax(scores, axis=-1)  # finding


class SetAttention(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, x, valid):
        q = nn.Dense(self.dim)(x)
        k = nn.Dense(self.dim)(x)
        v = nn.Dense(self.dim)(x)
        scores = jnp.einsum("bqd,bkd->bqk", q, k) / self.dim**0.5
        weights = masked_softmax(scores, valid[:, None, :])
        return jnp.einsum("bqk,bkd->bqd", weights, v)


def loss_fn(params, model, x, valid, y):
    out = model.apply(params, x, valid)
    pooled = jnp.sum(out * valid[..., None], axis=1) / jnp.maximum(valid.sum(1), 1)[:, None]
    return jnp.mean((pooled.sum(-1) - y) ** 2)


def main():
    model = SetAttention(16)
    x = jax.random.normal(jax.random.key(0), (4, 6, 8))
    lengths = jnp.array([6, 3, 1, 0])
    valid = jnp.arange(6)[None, :] < lengths[:, None]
    params = model.init(jax.random.key(1), x, valid)
    grads = jax.jit(jax.grad(loss_fn), static_argnums=1)(params, model, x, valid, jnp.ones(4))
    print(jax.tree.map(lambda g: bool(jnp.isnan(g).any()), grads))


if __name__ == "__main__":
    main()
