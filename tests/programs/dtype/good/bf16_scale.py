# blind: nineteenth

import math

import jax
import jax.numpy as jnp


def init(key, dim):
    return {
        n: (jax.random.normal(k, (dim, dim)) * dim ** -0.5).astype(jnp.bfloat16)
        for n, k in zip("qkv", jax.random.split(key, 3))
    }


@jax.jit
def attention(params, x):
    q, k, v = (x @ params[n] for n in "qkv")
    q = q / math.sqrt(q.shape[-1])
    logits = jnp.einsum("btd,bsd->bts", q, k)
    causal = jnp.tril(jnp.ones(logits.shape[-2:], bool))
    probs = jax.nn.softmax(jnp.where(causal, logits, -1e9), axis=-1)
    return jnp.einsum("bts,bsd->btd", probs, v), probs


def main():
    params = init(jax.random.key(0), 64)
    x = jax.random.normal(jax.random.key(1), (2, 48, 64)).astype(jnp.bfloat16)
    y, probs = attention(params, x)
    exact = jax.tree.map(lambda p: p.astype(jnp.float32), params)
    y32, _ = attention(exact, x.astype(jnp.float32))
    print(y.dtype, probs.dtype, "gap", float(jnp.abs(y.astype(jnp.float32) - y32).max()))


if __name__ == "__main__":
    main()
