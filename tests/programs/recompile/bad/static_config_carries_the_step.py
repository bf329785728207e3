# source: jax-ml/jax#4274

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 8
    dropout: float = 0.1
    step: int = 0

    def at(self, step):
        return dataclasses.replace(self, step=step)


@partial(jax.jit, static_argnames="cfg")
def train_step(params, key, x, cfg):
    key = jax.random.fold_in(key, cfg.step)

    def loss(p):
        h = jnp.tanh(x @ p["w1"])
        keep = jax.random.bernoulli(key, 1 - cfg.dropout, h.shape)
        return jnp.mean(((h * keep) @ p["w2"] - 1.0) ** 2)

    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))


def main(n_steps=8):
    cfg = Config()
    params = {"w1": jnp.ones((3, cfg.width)), "w2": jnp.ones(cfg.width)}
    key = jax.random.key(0)
    for i in range(n_steps):
        params = train_step(params, key, jnp.ones((4, 3)), cfg.at(i))  # finding
    return params


if __name__ == "__main__":
    print(main()["w2"])
