# source: google/flax#2920
# blind: first

import flax.linen as nn
import jax
import jax.numpy as jnp


class Tagger(nn.Module):
    hidden: int
    steps: int = 256

    @nn.compact
    def __call__(self, x):
        cell = nn.GRUCell(self.hidden)
        carry = cell.initialize_carry(jax.random.key(0), x[:, 0].shape)
        outputs = []
        for t in range(self.steps):  # finding
            carry, y = cell(carry, x[:, t])
            outputs.append(y)
        return jnp.stack(outputs, axis=1)


model = Tagger(16)
apply = jax.jit(model.apply)

if __name__ == "__main__":
    x = jnp.ones((1, 256, 4))
    print(apply(model.init(jax.random.key(0), x), x).shape)
