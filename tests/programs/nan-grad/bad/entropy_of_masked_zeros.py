# source: jax-ml/jax#5798
# blind: first

import jax
import jax.numpy as jnp


def policy_entropy(probs):
    plogp = jnp.where(probs > 0, probs * jnp.log(probs), 0.0)  # finding
    return -jnp.sum(plogp)


def objective(probs, returns):
    return jnp.sum(probs * returns) + 0.01 * policy_entropy(probs)


if __name__ == "__main__":
    print(jax.grad(objective)(jnp.array([0.5, 0.5, 0.0]), jnp.ones(3)))
