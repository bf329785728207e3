# source: jax-ml/jax#1052
# blind: first

import jax
import jax.numpy as jnp


def normalise(weights):
    total = weights.sum(-1, keepdims=True)
    return jnp.where(total == 0, 0.0, weights / total)  # finding


def pool(params, x, mask):
    weights = jnp.exp(x @ params) * mask
    return jnp.einsum("bt,btd->bd", normalise(weights), x)


@jax.jit
def objective_grad(params, x, mask):
    return jax.grad(lambda p: jnp.sum(pool(p, x, mask) ** 2))(params)


if __name__ == "__main__":
    x = jnp.ones((2, 3, 4))
    print(objective_grad(jnp.ones(4), x, jnp.array([[1, 1, 0], [0, 0, 0]])))
