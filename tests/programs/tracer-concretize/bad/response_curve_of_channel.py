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

    def response(self, channel, spend):
        return self.curves[channel](spend)  # finding

    def table(self, spend):
        def one(channel):
            return jnp.sum(self.response(channel, spend))

        return jax.lax.map(one, jnp.arange(len(CHANNELS)))


if __name__ == "__main__":
    params = {c: {"coef": 1.0, "half": 2.0, "slope": 1.5} for c in CHANNELS}
    print(MediaMix(params).table(jnp.linspace(0.1, 4.0, 10)))
