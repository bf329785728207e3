# source: jax-ml/jax#2777

import flax.linen as nn
import jax
import jax.numpy as jnp


class Tagger(nn.Module):
    hidden: int
    tags: int

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(20, self.hidden)(tokens)
        cell = nn.GRUCell(self.hidden)
        carry = cell.initialize_carry(jax.random.key(0), x[:, 0].shape)
        outputs = []
        for t in range(x.shape[1]):  # finding
            carry, y = cell(carry, x[:, t])
            outputs.append(y)
        return nn.Dense(self.tags)(jnp.stack(outputs, axis=1))


model = Tagger(8, 5)


@jax.jit
def loss(params, tokens, tags):
    logp = jax.nn.log_softmax(model.apply(params, tokens))
    return -jnp.mean(jnp.take_along_axis(logp, tags[..., None], -1))


if __name__ == "__main__":
    tokens = jnp.ones((2, 120), jnp.int32)
    params = model.init(jax.random.key(1), tokens)
    print(loss(params, tokens, tokens % 5))
