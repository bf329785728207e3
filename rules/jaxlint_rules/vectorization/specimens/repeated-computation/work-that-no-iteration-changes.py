# a factorization, a data set that is sent again, and features of frozen weights

import jax
import jax.numpy as jnp
import numpy as np

def samples(key):
    x = jnp.linspace(0.0, 1.0, 2000)
    covariance = jnp.exp(-((x[:, None] - x[None, :]) ** 2)) + 1e-4 * jnp.eye(2000)
    drawn = []
    for i in range(500):
        key, sub = jax.random.split(key)
        drawn.append(np.asarray(jnp.linalg.cholesky(covariance) @ jax.random.normal(sub, (2000,))))  # finding
    return np.stack(drawn)

@jax.jit
def epoch(w, x, order):
    return w - 0.1 * jnp.mean(x[order], axis=0) @ w

def train():
    images = np.random.default_rng(0).random((60000, 784), dtype=np.float32)
    w = jnp.zeros(784)
    for e in range(50):
        mean = images.mean(axis=0)
        x = jnp.asarray((images - mean) / images.std(axis=0))  # finding
        w = epoch(w, x, jax.random.permutation(jax.random.key(e), 60000))
    return w

@jax.jit
def embed(layers, x):
    for w in layers:
        x = jnp.tanh(x @ w)
    return x

@jax.jit
def readout(head, features):
    return head - 0.1 * jax.grad(lambda h: jnp.mean((features @ h) ** 2))(head)

def fit(layers, head, x):
    for step in range(20000):
        features = embed(layers, x)  # finding
        head = readout(head, features)
    return head

def curvature(loss, w, steps):
    for step in range(20000):
        hessian = jax.hessian(energy)(w)  # finding
        steps = steps - hessian @ steps
    return steps

def energy(w):
    return sum(jnp.sin(w[i]) * jnp.cos(w[i - 1]) + jnp.tanh(w[i]) ** i + jnp.exp(-w[i] ** 2) + jnp.log1p(w[i] ** 2) for i in range(8))

samples(jax.random.key(0))
train()
