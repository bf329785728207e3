# function: langevin
# arguments: x=array, rate=float
# refused: `next(stream)`

"""The step takes its noise from a generator of the module."""

import jax
import jax.numpy as jnp


def noises(key):
    while True:
        key, part = jax.random.split(key)
        yield jax.random.normal(part, (16,))


stream = noises(jax.random.key(7))


def langevin(x, rate):
    gradient = jax.grad(lambda v: jnp.sum(v**2) / 2)(x)
    return x - rate * gradient + jnp.sqrt(2 * rate) * next(stream)


def main():
    x = jnp.zeros(16)
    samples = []
    for _ in range(100):
        x = langevin(x, 0.1)
        samples.append(x)
    print("variance", jnp.var(jnp.stack(samples)))


if __name__ == "__main__":
    main()
