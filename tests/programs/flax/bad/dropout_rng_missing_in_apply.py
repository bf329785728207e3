# source: mlcommons/algorithmic-efficiency#664
# blind: eighteenth

import flax.linen as nn
import jax
import jax.numpy as jnp


class EncoderLayer(nn.Module):
    dim: int
    heads: int
    rate: float = 0.1

    @nn.compact
    def __call__(self, x, deterministic):
        h = nn.LayerNorm()(x)
        h = nn.MultiHeadDotProductAttention(self.heads, qkv_features=self.dim)(h)
        x = x + nn.Dropout(self.rate)(h, deterministic=deterministic)
        h = nn.gelu(nn.Dense(2 * self.dim)(nn.LayerNorm()(x)))
        return x + nn.Dense(self.dim)(h)


class Tagger(nn.Module):
    vocab: int
    n_tags: int
    dim: int = 16

    @nn.compact
    def __call__(self, ids, deterministic=True):
        x = nn.Embed(self.vocab, self.dim)(ids)
        x = EncoderLayer(self.dim, 2)(x, deterministic)
        return nn.Dense(self.n_tags)(x)


model = Tagger(vocab=50, n_tags=4)


def loss_fn(params, ids, tags):
    logits = model.apply({"params": params}, ids, deterministic=False)  # finding
    logp = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(logp, tags[..., None], axis=-1).mean()


train_grad = jax.jit(jax.value_and_grad(loss_fn))


def main():
    ids = jnp.arange(12).reshape(2, 6)
    params = model.init(jax.random.key(0), ids)["params"]
    loss, _ = train_grad(params, ids, ids % 4)
    print(loss)


if __name__ == "__main__":
    main()
