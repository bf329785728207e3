# source: jax-ml/jax#3058
# blind: seventh

import flax.linen as nn
import jax
import jax.numpy as jnp


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(8)(nn.relu(nn.Dense(32)(x)))


model = Encoder()


def pairwise(z):
    squared = jnp.sum((z[:, None, :] - z[None, :, :]) ** 2, axis=-1)
    return jnp.sqrt(squared)  # finding


def contrastive_loss(params, x, labels, margin=1.0):
    d = pairwise(model.apply(params, x))
    same = labels[:, None] == labels[None, :]
    return jnp.mean(jnp.where(same, d**2, jax.nn.relu(margin - d) ** 2))


def main():
    x = jax.random.normal(jax.random.key(0), (6, 4))
    params = model.init(jax.random.key(1), x)
    grads = jax.jit(jax.grad(contrastive_loss))(params, x, jnp.array([0, 0, 1, 1, 2, 2]))
    print(jax.tree.map(jnp.sum, grads))


if __name__ == "__main__":
    main()
