# attributes under names made at run time, and containers made for what is stored

import jax
import jax.numpy as jnp

class Probe:
    def capture(self, name, value):
        setattr(self, f"last_{name}", value)  # finding

class Log:
    def __init__(self):
        self.values = {}

    def log(self, name, value):
        self.values.setdefault(name, []).append(value)  # finding

    def note(self, name, value):
        self.values.setdefault(name, []).append(value)

class History:
    def __init__(self):
        self.values = {"x": []}

    def add(self, value):
        self.values["x"].append(value)  # finding

history = History()
probe = Probe()
log = Log()

@jax.jit
def f(x):
    probe.capture("x", x * 2)
    log.log("x", x * 2)
    history.add(x * 2)
    own = Probe()
    own.capture("x", x)
    named = {}
    named.setdefault("x", []).append(x)
    return x

def host(x):
    log.note("x", f(x))
