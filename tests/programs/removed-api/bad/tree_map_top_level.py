# source: google-deepmind/optax#953
# blind: first

import jax
import jax.numpy as jnp
import optax


def polyak(params, target, tau):
    return jax.tree_map(lambda p, t: tau * p + (1 - tau) * t, params, target)  # finding


def td_error(q, q_next, reward, discount):
    return reward + discount * q_next.max(-1) - q


if __name__ == "__main__":
    p = {"w": jnp.ones(3)}
    print(polyak(p, p, 0.01), optax.global_norm(p))
