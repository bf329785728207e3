# blind: tenth
# missed: the largest number of an array that a loop fills is unknown

import flax.linen as nn
import jax
import jax.numpy as jnp

VOCAB = 1000
PAD = VOCAB


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(num_embeddings=VOCAB, features=16)(tokens)  # finding-also
        return x.mean(axis=1)


def pad(rows, length):
    out = jnp.full((len(rows), length), PAD)
    for i, row in enumerate(rows):
        out = out.at[i, : len(row)].set(jnp.array(row))
    return out


rows = pad([[3, 4, 5], [7, 9]], 6)
model = Encoder()
params = model.init(jax.random.key(0), rows)
print(model.apply(params, rows))  # finding
