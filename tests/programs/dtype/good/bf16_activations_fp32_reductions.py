# source: p-doom/jasmine#123
# blind: eighteenth

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class RMSNorm(nn.Module):
    eps: float = 1e-6

    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        x32 = x.astype(jnp.float32)
        normed = x32 * jax.lax.rsqrt(jnp.mean(x32**2, axis=-1, keepdims=True) + self.eps)
        return (normed * scale).astype(x.dtype)


class Block(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, x):
        h = RMSNorm()(x)
        h = nn.Dense(2 * self.dim, dtype=jnp.bfloat16)(h)
        h = nn.silu(h) * 0.5
        return x + nn.Dense(self.dim, dtype=jnp.bfloat16)(h)


def preprocess(frames):
    return jnp.asarray(frames).astype(jnp.bfloat16) / 255.0


@jax.jit
def loss_fn(params, x):
    out = Block(12).apply({"params": params}, x)
    assert out.dtype == jnp.bfloat16
    return jnp.sum(out**2, dtype=jnp.float32) / out.size


def main():
    raw = np.random.default_rng(0).integers(0, 256, size=(4, 12), dtype=np.uint8)
    x = preprocess(raw)
    params = Block(12).init(jax.random.key(0), x)["params"]
    print(x.dtype, loss_fn(params, x).dtype)


if __name__ == "__main__":
    main()
