# source: mlysy/pfjax#3
# blind: third

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class AdaptRule:
    target: float = 0.44
    max_change: float = 0.05

    def __call__(self, width, accept_rate, n):
        delta = min(self.max_change, n**-0.5)  # finding
        sign = jnp.sign(accept_rate - self.target)
        return width * jnp.exp(sign * delta)


def kernel(rule, logp, carry, inputs):
    x, width, rate = carry
    key, n = inputs
    k1, k2 = jax.random.split(key)
    prop = x + width * jax.random.normal(k1)
    ok = jnp.log(jax.random.uniform(k2)) < logp(prop) - logp(x)
    x = jnp.where(ok, prop, x)
    rate = rate + (ok - rate) / n
    return (x, rule(width, rate, n), rate), x


def sample(key, logp, steps=50, rule=AdaptRule()):
    body = partial(kernel, rule, logp)
    init = (jnp.float32(0.0), jnp.float32(1.0), jnp.float32(0.0))
    xs = (jax.random.split(key, steps), jnp.arange(1.0, steps + 1))
    return jax.lax.scan(body, init, xs)[1]


if __name__ == "__main__":
    print(sample(jax.random.key(1), lambda x: -0.5 * x**2)[-3:])
