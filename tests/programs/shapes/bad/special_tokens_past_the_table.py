# blind: thirteenth

import flax.linen as nn
import jax
import jax.numpy as jnp

PAD = 0
SPECIAL = ("<bos>", "<eos>", "<mask>")
VOCAB = 1000


class Embedder(nn.Module):
    dim: int = 32

    @nn.compact
    def __call__(self, tokens):
        table = self.param("table", nn.initializers.normal(0.02), (VOCAB, self.dim))
        return table[tokens]  # finding


def add_special(tokens):
    bos = jnp.full((tokens.shape[0], 1), VOCAB + 0)
    eos = jnp.full((tokens.shape[0], 1), VOCAB + 1)
    return jnp.concatenate([bos, tokens, eos], axis=1)


def main():
    tokens = jax.random.randint(jax.random.key(0), (4, 20), 1, VOCAB)
    tokens = add_special(tokens)
    embedder = Embedder()
    params = embedder.init(jax.random.key(1), tokens)
    print(embedder.apply(params, tokens).shape)


if __name__ == "__main__":
    main()
