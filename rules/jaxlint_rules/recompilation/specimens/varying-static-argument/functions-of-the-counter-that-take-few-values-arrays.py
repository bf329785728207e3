# functions of the counter that take few values, arrays for filter_jit

from dataclasses import dataclass, replace
from functools import partial
import equinox as eqx
import jax
import jax.numpy as jnp

@dataclass(frozen=True)
class Config:
    width: int = 8
    level: int = 0

def level(step):
    return step // 1000

def phase(step):
    if step < 100:
        return "warm"
    return "main"

@partial(jax.jit, static_argnames=("level", "cfg", "phase"))
def step(w, level=0, cfg=Config(), phase="main"):
    return w * level + cfg.width

@eqx.filter_jit
def filtered(w, count, scale):
    return w * count * scale

def train(w, steps, cfg, scale):
    for i in range(steps):
        w = step(w, level=level(i), phase=phase(i))
        w = step(w, level=min(i, 3))
        w = step(w, cfg=replace(cfg, level=i % 3))
        w = filtered(w, jnp.asarray(i), 2.0)
        w = filtered(w, jnp.asarray(i), scale)
    return w

train(jnp.ones(3), 100, Config(), 0.5)
