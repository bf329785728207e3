# source: jax-ml/jax#1251
# blind: first

import dataclasses
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Config:
    widths: tuple[int, ...] = (4, 2)
    act: str = "tanh"


class Opts(NamedTuple):
    steps: int = 3


@dataclasses.dataclass(eq=False)
class Solver:
    tol: float = 1e-3

    @partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return jnp.where(jnp.abs(x) < self.tol, 0.0, x)


@partial(jax.jit, static_argnames=("cfg", "opts"))
def run(x, cfg, opts):
    fn = getattr(jnp, cfg.act)
    for width in cfg.widths[: opts.steps]:
        x = fn(x)[..., :width]
    return x


if __name__ == "__main__":
    print(run(jnp.ones((2, 8)), Config(widths=tuple([4, 2])), Opts()), Solver()(jnp.ones(2)))
