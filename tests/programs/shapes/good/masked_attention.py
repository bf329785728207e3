# blind: nineteenth

import jax
import jax.numpy as jnp


def init_block(key, dim, heads):
    names = ("q", "k", "v")
    return {
        n: jax.random.normal(k, (dim, heads, dim // heads)) * dim ** -0.5
        for n, k in zip(names, jax.random.split(key, 3))
    }


@jax.jit
def attention(params, x, lengths):
    q, k, v = (jnp.einsum("btd,dhk->bhtk", x, params[n]) for n in ("q", "k", "v"))
    logits = jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    valid = jnp.arange(x.shape[1]) < lengths[:, None]
    logits = jnp.where(valid[:, None, None, :], logits, -1e30)
    out = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(logits, axis=-1), v)
    out = out.swapaxes(1, 2).reshape(x.shape)
    return jnp.sum(out * valid[..., None], axis=1) / lengths[:, None]


def main():
    batch, heads, seq, dim = 4, 4, 10, 32
    k_x, k_p, k_n = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(k_x, (batch, seq, dim))
    lengths = jnp.array([10, 3, 6, 8])
    params = init_block(k_p, dim, heads)
    keep = (jnp.arange(seq) < lengths[:, None])[..., None]
    other = jnp.where(keep, x, jax.random.normal(k_n, x.shape))
    gap = jnp.abs(attention(params, x, lengths) - attention(params, other, lengths))
    print("change when only padding changes", float(gap.max()))


if __name__ == "__main__":
    main()
