# source: pyro-ppl/numpyro#2247
# blind: ninth

import functools

import jax
import jax.numpy as jnp


def log_density(x):
    return -0.5 * jnp.sum(x**2)


@functools.partial(jax.jit, static_argnames="scale")
def propose(key, x, scale):
    step_key, accept_key = jax.random.split(key)
    new = x + scale * jax.random.normal(step_key, x.shape)
    ratio = log_density(new) - log_density(x)
    return new, jnp.log(jax.random.uniform(accept_key)) < ratio


class Metropolis:
    def __init__(self, scale):
        self.scale = scale

    def advance(self, key, x):
        new, accepted = propose(key, x, self.scale)
        return new if accepted else x  # finding


def sample(key, x, n):
    kernel = Metropolis(0.5)
    draws = []
    for step_key in jax.random.split(key, n):
        x = kernel.advance(step_key, x)  # finding-also
        draws.append(x)
    return jnp.stack(draws)


if __name__ == "__main__":
    print(sample(jax.random.key(0), jnp.zeros(3), 100).mean(0))
