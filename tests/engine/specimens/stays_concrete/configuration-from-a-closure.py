# configuration from a closure
import jax
import jax.numpy as jnp

class Config:
    anneal = True
    steps = 100

cfg = Config()
options = {"clip": 1.0, "mode": "linear"}

def schedule(step):
    return step / cfg.steps

@jax.jit
def step(s, b):
    lr = 0.1
    if cfg.anneal:
        lr = schedule(s)
    if options["clip"] is not None and options["mode"] == "linear":
        b = jnp.clip(b, -options["clip"], options["clip"])
    return s + lr * b

step(1.0, jnp.ones(3))
