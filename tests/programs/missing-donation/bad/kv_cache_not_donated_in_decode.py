# source: jax-ml/jax#1733
# blind: eighteenth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, x, cache, pos):
        qkv = nn.Dense(3 * self.dim, use_bias=False)(x)
        q, k, v = jnp.split(qkv, 3, axis=-1)
        keys = cache["k"].at[:, pos].set(k)
        values = cache["v"].at[:, pos].set(v)
        scores = jnp.einsum("bd,btd->bt", q, keys) / self.dim**0.5
        scores = jnp.where(jnp.arange(keys.shape[1])[None] <= pos, scores, -1e9)
        out = jnp.einsum("bt,btd->bd", jax.nn.softmax(scores), values)
        return x + nn.Dense(self.dim)(out), {"k": keys, "v": values}


model = Block(256)


def init_cache(batch, max_len, dim):
    shape = (batch, max_len, dim)
    return {"k": jnp.zeros(shape), "v": jnp.zeros(shape)}


@jax.jit  # finding
def decode_step(params, x, cache, pos):  # finding-also
    return model.apply({"params": params}, x, cache, pos)


def main(batch=8, max_len=1024, n_new=4):
    x = jnp.ones((batch, 256))
    cache = init_cache(batch, max_len, 256)
    params = model.init(jax.random.key(0), x, cache, jnp.asarray(0))["params"]
    for pos in range(n_new):
        x, cache = decode_step(params, x, cache, jnp.asarray(pos))  # finding-also
    print(x.shape)


if __name__ == "__main__":
    main()
