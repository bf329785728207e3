# source: deepmind/chex#55
# blind: first

import jax
import jax.numpy as jnp


def check_stochastic(matrix):
    rows = matrix.sum(axis=-1)
    assert jnp.allclose(rows, 1.0), "rows do not sum to one"  # finding
    return matrix


def forward(transition, emission, alpha, obs):
    transition = check_stochastic(transition)
    alpha = (alpha @ transition) * emission[:, obs]
    norm = alpha.sum()
    return alpha / norm, jnp.log(norm)


def log_likelihood(transition, emission, prior, observations):
    step = lambda alpha, obs: forward(transition, emission, alpha, obs)
    _, terms = jax.lax.scan(step, prior, observations)
    return terms.sum()


grad = jax.jit(jax.grad(log_likelihood))

if __name__ == "__main__":
    print(grad(jnp.full((2, 2), 0.5), jnp.full((2, 3), 1 / 3), jnp.full(2, 0.5), jnp.array([0, 1])))
