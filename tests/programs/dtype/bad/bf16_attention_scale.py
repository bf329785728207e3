# source: jax-ml/jax#1830
# blind: nineteenth

import jax
import jax.numpy as jnp
import numpy as np

COMPUTE = jnp.bfloat16


def init(key, dim, heads):
    names = ("q", "k", "v", "o")
    return {
        n: (jax.random.normal(k, (dim, dim)) * dim ** -0.5).astype(COMPUTE)
        for n, k in zip(names, jax.random.split(key, 4))
    }


def split_heads(x, heads):
    b, t, d = x.shape
    return x.reshape(b, t, heads, d // heads).swapaxes(1, 2)


def attention(params, x, heads):
    q = split_heads(x @ params["q"], heads)
    k = split_heads(x @ params["k"], heads)
    v = split_heads(x @ params["v"], heads)
    q = q / np.sqrt(q.shape[-1])  # finding
    logits = jnp.einsum("bhqd,bhkd->bhqk", q, k)
    causal = jnp.tril(jnp.ones(logits.shape[-2:], bool))
    probs = jax.nn.softmax(jnp.where(causal, logits, -1e9), axis=-1)
    out = jnp.einsum("bhqk,bhkd->bhqd", probs, v)
    b, h, t, d = out.shape
    return out.swapaxes(1, 2).reshape(b, t, h * d) @ params["o"], probs


def block(params, x):
    y, probs = attention(params, x, heads=8)
    entropy = -jnp.sum(probs * jnp.log(probs + 1e-6), axis=-1)
    return x + y, (probs, entropy.mean())


def main():
    params = init(jax.random.key(0), 256, 8)
    x = jax.random.normal(jax.random.key(1), (2, 256, 256)).astype(COMPUTE)
    compiled = jax.jit(block).lower(params, x).compile()
    y, (probs, entropy) = compiled(params, x)
    print("stream dtype", y.dtype, "attention maps", probs.dtype, probs.nbytes // 1024, "KiB")
    print("output bytes", compiled.memory_analysis().output_size_in_bytes, "entropy", float(entropy))


if __name__ == "__main__":
    main()
