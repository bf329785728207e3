# source: cgiovanetti/LINX#13
# blind: ninth

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Hyper:
    lr: float = 0.1
    decay: float = 0.99
    clip: float = 1.0


@partial(jax.jit, static_argnames="hyper", donate_argnums=0)
def update(params, x, hyper):
    grads = jnp.clip(jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params), -hyper.clip, hyper.clip)
    return params - hyper.lr * grads


class Loop:
    def __init__(self, hyper):
        self.hyper = hyper

    def anneal(self):
        self.hyper = replace(self.hyper, lr=self.hyper.lr * self.hyper.decay)

    def run(self, params, x, steps):
        for _ in range(steps):
            params = update(params, x, hyper=self.hyper)  # finding
            self.anneal()
        return params


if __name__ == "__main__":
    print(Loop(Hyper()).run(jnp.ones(4), jnp.ones((8, 4)), 30))
