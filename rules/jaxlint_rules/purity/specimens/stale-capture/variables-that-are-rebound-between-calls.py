# variables that are rebound between calls

import jax
import jax.numpy as jnp

scale = 1.0
config = {"lr": 0.1}

@jax.jit
def scaled(x):
    return x * scale  # finding

@jax.jit
def descend(w):
    return w - config["lr"] * w  # finding

print(scaled(1.0))
scale = 2.0
print(scaled(1.0))
for _ in range(3):
    descend(1.0)
    config["lr"] *= 0.5

mode = "train"

@jax.jit
def forward(x):
    return x * 2 if mode == "train" else x  # finding

def evaluate(x):
    global mode
    mode = "eval"
    return forward(x)

temperature = 1.0
steps = 0

def set_temperature(value):
    global temperature
    temperature = value

@jax.jit
def sample(logits):
    return jax.nn.softmax(logits / temperature)  # finding

def anneal(logits):
    for t in (1.0, 0.5):
        set_temperature(t)
        print(sample(logits))

@jax.jit
def decayed(x):
    return x * 0.9 ** steps  # finding

def run(x):
    global steps
    x = decayed(x)
    steps = 1
    return decayed(x)

settings = {"clip": 1.0, "seed": 0}

@jax.jit
def clipped(g):
    return jnp.clip(g, -settings["clip"], settings["clip"])  # finding

def tighten(g):
    first = clipped(g)
    settings["clip"] = 0.1
    return first, clipped(g)

def train(w, xs):
    predict = jax.jit(lambda x: x @ w)  # finding
    for x in xs:
        w = w - 0.1 * predict(x)
    return w, forward(xs[0])
