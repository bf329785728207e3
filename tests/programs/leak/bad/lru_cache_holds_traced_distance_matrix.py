# source: jax-ml/jax#13022
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


@functools.lru_cache(maxsize=None)  # finding
def rotary_table(seq_len, dim, base=10_000.0):  # finding-also
    inv_freq = base ** (-jnp.arange(0, dim, 2) / dim)
    angles = jnp.arange(seq_len)[:, None] * inv_freq[None]
    return jnp.cos(angles), jnp.sin(angles)


def apply_rotary(x):
    cos, sin = rotary_table(x.shape[0], x.shape[1])  # finding-also
    x1, x2 = x[:, ::2], x[:, 1::2]
    out = jnp.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], axis=-1)
    return out.reshape(x.shape)


def attention(q, k, v):
    s = apply_rotary(q) @ apply_rotary(k).T / q.shape[-1] ** 0.5
    return jax.nn.softmax(s, axis=-1) @ v


@jax.jit
def train_forward(q, k, v):
    return attention(q, k, v).sum()


@jax.jit
def eval_forward(q, k, v):
    return attention(q, k, v).mean()


if __name__ == "__main__":
    q, k, v = jax.random.normal(jax.random.key(0), (3, 6, 8))
    print(train_forward(q, k, v))
    print(eval_forward(q, k, v))
