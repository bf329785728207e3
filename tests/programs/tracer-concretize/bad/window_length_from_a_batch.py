# source: jax-ml/jax#3974
# blind: ninth

import flax.linen as nn
import jax
import jax.numpy as jnp


def causal_window(x, lengths):
    longest = lengths.max()
    return jax.lax.dynamic_slice_in_dim(x, 0, longest, axis=1)  # finding


class Pool(nn.Module):
    width: int

    @nn.compact
    def __call__(self, batch):
        x = causal_window(batch["x"], batch["length"])
        return nn.Dense(self.width)(x).mean(1)


@jax.jit
def apply(params, batch):
    return Pool(4).apply(params, batch)


if __name__ == "__main__":
    batch = {"x": jnp.ones((2, 8, 3)), "length": jnp.array([5, 7])}
    params = {"params": {"Dense_0": {"kernel": jnp.ones((3, 4)), "bias": jnp.zeros(4)}}}
    print(apply(params, batch).shape)
