# source: blackjax-devs/blackjax#656
# blind: second

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Particles:
    x: jax.Array
    log_weight: jax.Array
    history: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class StateSpace:
    initial: Callable
    transition: Callable
    log_likelihood: Callable


def systematic(key, log_weight, count):
    probability = jax.nn.softmax(log_weight)
    start = jax.random.uniform(key) / count
    return jnp.searchsorted(jnp.cumsum(probability), start + jnp.arange(count) / count).clip(0, count - 1)


def filter_sequence(space, key, observations, count, threshold=0.5):
    init_key, scan_key = jax.random.split(key)
    start = Particles(space.initial(init_key, count), jnp.zeros(count))

    def resample(key, particles):
        index = systematic(key, particles.log_weight, count)
        return dataclasses.replace(particles, x=particles.x[index], log_weight=jnp.zeros(count))

    def step(particles, inputs):
        key, y = inputs
        move_key, resample_key = jax.random.split(key)
        ess = 1 / jnp.sum(jax.nn.softmax(particles.log_weight) ** 2)
        particles = jax.lax.cond(
            ess < threshold * count, resample, lambda _, p: p, resample_key, particles
        )
        x = space.transition(move_key, particles.x)
        log_weight = particles.log_weight + space.log_likelihood(x, y)
        new = dataclasses.replace(particles, x=x, log_weight=log_weight - jax.nn.logsumexp(log_weight))
        return new, (jnp.sum(jax.nn.softmax(log_weight) * x), ess)

    keys = jax.random.split(scan_key, observations.shape[0])
    return jax.lax.scan(step, start, (keys, observations))


def main():
    space = StateSpace(
        initial=lambda key, n: jax.random.normal(key, (n,)),
        transition=lambda key, x: 0.9 * x + 0.3 * jax.random.normal(key, x.shape),
        log_likelihood=lambda x, y: -0.5 * ((y - x) / 0.5) ** 2,
    )
    ys = jnp.sin(jnp.arange(20) / 3)
    run = jax.jit(lambda key: filter_sequence(space, key, ys, 64))
    _, (means, ess) = run(jax.random.key(0))
    print(means.shape, ess.min())


if __name__ == "__main__":
    main()
