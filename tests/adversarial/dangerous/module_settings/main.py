# function: walk
# arguments: x=array, key=array
# refused: reads `noise`, which is set at

"""Another file's setting is lowered in the second phase."""

import jax
import jax.numpy as jnp
import settings


def perturb(x, key):
    return x + settings.noise * jax.random.normal(key, x.shape)


def walk(x, key):
    x = perturb(x, key)
    return x - 0.1 * jnp.sign(x)


def second_phase():
    settings.noise = 0.01


def main():
    x = jnp.zeros(32)
    key = jax.random.key(0)
    for number in range(settings.steps):
        if number == 25:
            second_phase()
        key, part = jax.random.split(key)
        x = walk(x, part)
    print("x", x[:3], jnp.abs(x).mean())


if __name__ == "__main__":
    main()
