# source: jax-ml/jax#4661
# blind: eighteenth

import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Config:
    hidden: tuple[int, ...] = (32, 32)
    activation: str = "gelu"
    residual: bool = True


ACTIVATIONS = {"gelu": jax.nn.gelu, "relu": jax.nn.relu}


def init(key, d_in, cfg):
    sizes = (d_in, *cfg.hidden)
    keys = jax.random.split(key, len(cfg.hidden))
    return [jax.random.normal(k, (i, o)) / i**0.5 for k, i, o in zip(keys, sizes[:-1], sizes[1:])]


@functools.partial(jax.jit, static_argnames="cfg")
def forward(params, x, cfg):
    act = ACTIVATIONS[cfg.activation]
    for w in params:
        h = act(x @ w)
        x = x + h if cfg.residual and x.shape == h.shape else h
    return x


class Encoder:
    def __init__(self, cfg, d_in, seed=0):
        self.cfg = cfg
        self.params = init(jax.random.key(seed), d_in, cfg)

    def __call__(self, x):
        return forward(self.params, x, cfg=self.cfg)


if __name__ == "__main__":
    raw = {"hidden": [16, 16], "activation": "relu"}
    cfg = Config(hidden=tuple(raw["hidden"]), activation=raw["activation"])
    print(Encoder(cfg, 6)(jnp.ones((3, 6))).shape)
