# variables that change before, elsewhere, or with the function

import jax

scale = 1.0
scale = 2.0
table = None

@jax.jit
def scaled(x):
    return x * scale

@jax.jit
def looked_up(x):
    return table[x]

def load():
    global table
    table = [1.0, 2.0]
    return looked_up(0)

mode = "a"

def set_mode(value):
    global mode
    mode = value

def moded(x):
    return x * 2 if mode == "a" else x

moded = jax.jit(moded)
set_mode("b")
moded(1.0)

def begin(x):
    set_mode("a")
    return moded(x), moded(2 * x)

settings = {"clip": 1.0, "seed": 0}

@jax.jit
def clipped(g):
    return g * settings["clip"]

def tighten(g):
    settings["clip"] = 0.1
    return clipped(g)

def reseed(g):
    first = clipped(g)
    settings["seed"] = 1
    return first, clipped(g)

def search(w, rates):
    results = []
    for rate in rates:
        @jax.jit
        def step(w):
            return w - rate * w
        results.append(step(w))
        rate = 0.0
    scale = 3.0
    return results, scaled(scale), looked_up(1)

def train(w):
    lr = 0.1
    @jax.jit
    def step(w, lr):
        return w - lr * w
    for _ in range(3):
        w = step(w, lr)
        lr = lr * 0.5
    return w
