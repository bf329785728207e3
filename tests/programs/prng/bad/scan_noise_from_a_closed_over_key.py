# source: blackjax-devs/blackjax#656
# blind: second

import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class OrnsteinUhlenbeck:
    theta: float
    sigma: float
    dt: float

    def drift(self, x):
        return -self.theta * x

    def increment(self, key, x):
        noise = jax.random.normal(key, x.shape)  # finding-also
        return self.drift(x) * self.dt + self.sigma * jnp.sqrt(self.dt) * noise


def simulate(process, key, x0, steps):
    def advance(x, t):
        x = x + process.increment(key, x)  # finding
        return x, (t * process.dt, x)

    _, (times, path) = jax.lax.scan(advance, x0, jnp.arange(steps))
    return times, path


def ensemble(process, key, members=8, steps=50):
    keys = jax.random.split(key, members)
    run = jax.jit(jax.vmap(lambda k: simulate(process, k, jnp.zeros(2), steps)[1]))
    return run(keys)


def autocorrelation(paths):
    centred = paths - paths.mean(axis=1, keepdims=True)
    return jnp.mean(centred[:, 1:] * centred[:, :-1])


if __name__ == "__main__":
    paths = ensemble(OrnsteinUhlenbeck(0.5, 1.0, 0.1), jax.random.key(0))
    print(autocorrelation(paths))
