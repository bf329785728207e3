# source: jax-ml/jax#817
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def game_loglik(skills, opponents, wins, played):
    margin = skills[0] - skills[opponents]
    ll = jnp.where(wins, jax.nn.log_sigmoid(margin), jax.nn.log_sigmoid(-margin))
    return jnp.sum(jnp.where(played, ll, 0.0))


def season_loglik(skills, opponents, wins, starts, width=64):
    total = 0.0
    for lo, hi in zip(starts[:-1], starts[1:]):
        row = np.zeros(width, np.int32)
        won = np.zeros(width, bool)
        row[: hi - lo], won[: hi - lo] = opponents[lo:hi], wins[lo:hi]
        total += game_loglik(skills, row, won, np.arange(width) < hi - lo)
    return total


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 40, size=30))])
    opponents = rng.integers(0, 50, size=starts[-1])
    print(season_loglik(jnp.zeros(50), opponents, rng.random(starts[-1]) < 0.5, starts))
