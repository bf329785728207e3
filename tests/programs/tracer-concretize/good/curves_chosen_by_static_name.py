# source: google/lightweight_mmm#206
# blind: third

import jax
import jax.numpy as jnp

CHANNELS = ["tv", "radio", "search"]


def hill(x, half, slope):
    return 1.0 / (1.0 + (x / half) ** -slope)


class MediaMix:
    def __init__(self, params):
        self.curves = [
            lambda spend, p=params[name]: p["coef"] * hill(spend, p["half"], p["slope"])
            for name in CHANNELS
        ]
        self.coefs = jnp.array([params[name]["coef"] for name in CHANNELS])

    def response(self, channel, spend):
        return jax.lax.switch(channel, self.curves, spend)

    def table(self, spend):
        def one(channel):
            return self.coefs[channel] * jnp.sum(self.response(channel, spend))

        return jax.lax.map(one, jnp.arange(len(CHANNELS)))

    def by_name(self, spend):
        return {name: self.curves[i](spend).sum() for i, name in enumerate(CHANNELS)}


if __name__ == "__main__":
    params = {c: {"coef": 1.0, "half": 2.0, "slope": 1.5} for c in CHANNELS}
    mix = MediaMix(params)
    print(mix.table(jnp.linspace(0.1, 4.0, 10)), jax.jit(mix.by_name)(jnp.ones(2)))
