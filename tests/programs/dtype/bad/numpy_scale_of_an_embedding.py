# blind: fourteenth
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

D_MODEL = 64
EMBED_SCALE = np.sqrt(D_MODEL, dtype=np.float32)


class RMSNorm(nn.Module):
    eps: float = 1e-6

    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],), jnp.bfloat16)
        var = jnp.mean(jnp.square(x.astype(jnp.float32)), axis=-1, keepdims=True)
        normed = x * jax.lax.rsqrt(var + self.eps).astype(x.dtype)
        return normed * scale


class Block(nn.Module):
    hidden: int

    @nn.compact
    def __call__(self, x):
        up = self.param("up", nn.initializers.lecun_normal(), (D_MODEL, self.hidden), jnp.bfloat16)
        down = self.param("down", nn.initializers.lecun_normal(), (self.hidden, D_MODEL), jnp.bfloat16)
        h = RMSNorm()(x)
        return x + jax.nn.silu(h @ up) @ down


class LanguageModel(nn.Module):
    vocab: int = 128
    layers: int = 2

    @nn.compact
    def __call__(self, tokens):
        table = self.param("embed", nn.initializers.normal(0.02), (self.vocab, D_MODEL), jnp.bfloat16)
        x = table[tokens]
        x = x * EMBED_SCALE  # finding
        for _ in range(self.layers):
            x = Block(128)(x)
        return RMSNorm()(x) @ table.T


def main():
    model = LanguageModel()
    tokens = jnp.arange(12).reshape(2, 6)
    params = model.init(jax.random.key(0), tokens)
    logits = jax.jit(model.apply)(params, tokens)
    print(logits.dtype, logits.shape)


if __name__ == "__main__":
    main()
