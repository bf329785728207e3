# source: jax-ml/jax#16430
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


def _as_batch(x):
    if x.ndim == 1:
        x = x[None]
    assert x.shape[-1] % 2 == 0
    return x


@functools.partial(jax.jit, static_argnames=("causal",))
def attend(q, k, v, mask=None, scale=None, causal=True):
    q, k, v = _as_batch(q), _as_batch(k), _as_batch(v)
    scale = scale if scale is not None else q.shape[-1] ** -0.5
    scores = (q @ k.T) * scale
    if causal and q.shape[0] == k.shape[0]:
        tri = jnp.tril(jnp.ones(scores.shape, bool))
        scores = jnp.where(tri, scores, -jnp.inf)
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    if jnp.issubdtype(scores.dtype, jnp.bfloat16):
        scores = scores.astype(jnp.float32)
    return jax.nn.softmax(scores, axis=-1) @ v


def main():
    x = jax.random.normal(jax.random.key(0), (5, 8))
    print(attend(x, x, x).shape)
    print(attend(x, x, x, mask=jnp.ones((5, 5), bool), scale=0.5, causal=False).shape)
    if jnp.isnan(attend(x, x, x)).any():
        raise FloatingPointError("nan in attention")


if __name__ == "__main__":
    main()
