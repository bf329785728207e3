# a schedule that a function computes, a config that carries the step, a number for filter_jit

from dataclasses import dataclass, replace
from functools import partial
import equinox as eqx
import jax
import jax.numpy as jnp

@dataclass(frozen=True)
class Config:
    width: int = 8
    step: int = 0

    def at(self, step):
        return replace(self, step=step)

def temperature(step, start=1.0):
    return max(0.1, start * 0.97**step)

@partial(jax.jit, static_argnames=("tau", "cfg", "name"))
def step(w, tau=1.0, cfg=Config(), name=""):
    return w * tau + cfg.width

@eqx.filter_jit
def filtered(w, count):
    return w * count

def train(w, steps, cfg):
    for i in range(steps):
        tau = temperature(i)
        w = step(w, tau=tau)  # finding
        w = step(w, cfg=cfg.at(i))  # finding
        w = step(w, cfg=replace(cfg, step=i))  # finding
        w = step(w, name=f"step {i}")  # finding
        w = filtered(w, i)  # finding
        w = apply(lambda x: x * 2.0, w)  # finding
        w = apply(partial(jnp.power, i), w)  # finding
        w = apply(jnp.sin, w)
    return w

@partial(jax.jit, static_argnums=0)
def apply(function, w):
    return function(w)

train(jnp.ones(3), 100, Config())
