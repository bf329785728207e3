# waiting, in one way or another

import time
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(x):
    return jnp.sin(x) @ x

def wait(tree):
    return jax.tree.map(lambda leaf: leaf.block_until_ready(), tree)

def many(x, model, log):
    t0 = time.perf_counter()
    jax.block_until_ready(step(x))
    t1 = time.perf_counter()
    wait({"y": step(x)})
    t2 = time.perf_counter()
    y = np.asarray(step(x))
    t3 = time.perf_counter()
    loss = float(step(x).sum())
    t4 = time.perf_counter()
    log(step(x))
    t5 = time.perf_counter()
    return [t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4], y, loss

def training(x, batches):
    start = time.time()
    for i, batch in enumerate(batches):
        x = step(x + batch)
        if i % 100 == 0:
            print(i, float(x.sum()))
    return x, time.time() - start

def rate_limited(x, batches):
    last = time.time()
    for batch in batches:
        x = step(x + batch)
        if time.time() - last > 60:
            last = time.time()
    return x

def host_only(xs):
    start = time.perf_counter()
    total = sum(xs)
    return total, time.perf_counter() - start

def compiling(x):
    start = time.perf_counter()
    compiled = step.lower(x).compile()
    return compiled, time.perf_counter() - start

class Meter:
    def __init__(self):
        self.time = time.perf_counter()

    def log(self, step):
        now = time.perf_counter()
        print(step, now - self.time)
        self.time = now

def train(x):
    meter = Meter()
    meter.log(0)
    x = step(x)
    meter.log(1)
    return x
