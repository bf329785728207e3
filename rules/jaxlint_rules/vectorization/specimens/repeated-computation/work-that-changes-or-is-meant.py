# what an iteration changes, what a loop measures, copies, and work that costs little

import time

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def embed(layers, x):
    for w in layers:
        x = jnp.tanh(x @ w)
    return x

@jax.jit
def step(layers, x):
    return jax.tree.map(lambda w: 0.9 * w + x.mean(), layers)

@jax.jit
def readout(head, features):
    return head - 0.1 * jax.grad(lambda h: jnp.mean((features @ h) ** 2))(head)

def measured(layers, x):
    seconds = []
    for i in range(20000):
        start = time.perf_counter()
        embed(layers, x).block_until_ready()
        seconds.append(time.perf_counter() - start)
    return seconds

def trained(layers, head, x):
    for i in range(20000):
        layers = step(layers, x)
        head = readout(head, embed(layers, x))
    return head

def filled(buffer, layers, head, fill):
    for i in range(20000):
        fill(buffer)
        head = readout(head, embed(layers, buffer))
        buffer[0] = i
    return head

def now_and_then(layers, head, x):
    for i in range(20000):
        head = readout(head, x)
        if i % 5000 == 0:
            print(i, embed(layers, x).mean())
    return head

def small(x):
    factors = []
    matrix = jnp.eye(3)
    for i in range(100):
        factors.append(jnp.linalg.cholesky(matrix) * i)
    return factors

def restarted(images):
    found = []
    for seed in range(50):
        x = np.array(images)
        x[seed] = 0.0
        found.append(embed([jnp.eye(784)], x))
    return found

def shuffled(rng, layers, head):
    rows = np.arange(60000 * 784, dtype=np.float32).reshape(60000, 784)
    for e in range(50):
        rng.shuffle(rows)
        head = readout(head, jnp.asarray(rows / 255.0))
    return head

class Model:
    def __init__(self, layers):
        self.layers = layers

    def advance(self):
        self.layers = step(self.layers, jnp.ones(3))

    def run(self, head, x):
        for i in range(20000):
            self.advance()
            head = readout(head, embed(self.layers, x))
        return head

def noise(layers, x):
    total = 0.0
    for i in range(20000):
        total = total + np.random.normal(size=1000).mean() * float(i)
    return total

restarted(np.ones((60000, 784), np.float32))
small(jnp.ones(3))
