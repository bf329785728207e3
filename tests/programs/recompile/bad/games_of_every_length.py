# source: jax-ml/jax#817
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def game_loglik(skills, opponents, wins):
    margin = skills[0] - skills[opponents]
    return jnp.sum(jnp.where(wins, jax.nn.log_sigmoid(margin), jax.nn.log_sigmoid(-margin)))


def season_loglik(skills, opponents, wins, starts):
    total = 0.0
    for lo, hi in zip(starts[:-1], starts[1:]):
        total += game_loglik(skills, opponents[lo:hi], wins[lo:hi])  # finding
    return total


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 40, size=30))])
    opponents = rng.integers(0, 50, size=starts[-1])
    wins = rng.random(starts[-1]) < 0.5
    print(season_loglik(jnp.zeros(50), opponents, wins, starts))
