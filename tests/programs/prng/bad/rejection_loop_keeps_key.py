# source: jax-ml/jax#489
# blind: first

import jax
import jax.numpy as jnp
from jax import lax, random


def truncated_normal_above(key, threshold):
    """Draws until a value above the threshold comes."""

    def not_yet(state):
        _, value = state
        return value <= threshold

    def draw(state):
        key, _ = state
        _, sub = random.split(key)  # finding-also
        return key, random.normal(sub)  # finding

    _, value = lax.while_loop(not_yet, draw, (key, -jnp.inf))
    return value


if __name__ == "__main__":
    print(truncated_normal_above(random.key(3), -5.0))
