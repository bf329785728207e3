# source: jax-ml/jax#5454
# blind: first

import jax
import jax.numpy as jnp


def pulse(width, gap):
    on = jnp.ones((width,))  # finding
    return jnp.concatenate([on, jnp.zeros(gap)])


def train_of_pulses(width, gap=3, repeats=4):
    return jnp.tile(pulse(width, gap), repeats)


def sweep(widths):
    return jax.vmap(train_of_pulses)(widths)


if __name__ == "__main__":
    print(sweep(jnp.array([1, 2, 3])))
