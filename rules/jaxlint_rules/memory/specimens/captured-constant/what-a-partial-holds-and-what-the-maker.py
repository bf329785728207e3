# what a partial holds, and what the maker of a function was given

import functools
import jax
import jax.numpy as jnp
import numpy as np

def density(theta, x):
    return jnp.sum((x @ theta) ** 2)

def make_kernel(x, scale):
    density_of = functools.partial(density, x=x)
    scaled = functools.partial(density, x=scale)

    @jax.jit
    def kernel(theta):
        return theta - jax.grad(density_of)(theta) + scaled(theta)  # finding

    return kernel

def make_loss(x):
    @jax.jit
    def loss(theta):
        return density(theta, x)  # finding
    return loss

x = jax.random.normal(jax.random.key(0), (200_000, 20))
kernel = make_kernel(x, jnp.eye(20))
loss = make_loss(x)

def fit(features, labels):
    @jax.jit
    def objective(w):
        return jnp.mean((features @ w - labels) ** 2)  # finding
    return objective(jnp.zeros(20))

rows = np.random.default_rng(0)
fit(jnp.asarray(rows.normal(size=(50_000, 20))), jnp.asarray(rows.normal(size=50_000)))

class Regression:
    def __init__(self, features, targets):
        self.features = features
        self.targets = targets
        self.scale = jnp.ones(20)

    def loss(self, w, features):
        return jnp.mean((features @ w) ** 2) + self.scale @ w + self.features.shape[0]

    def whole(self, w):
        return self.loss(w, self.features)

    def fit(self):
        step = jax.jit(lambda w: jax.grad(self.whole)(w))  # finding
        passed = jax.jit(lambda w, x: jax.grad(self.loss)(w, x))
        return step(jnp.zeros(20)), passed(jnp.zeros(20), self.features)

Regression(x, x[:, 0]).fit()

class Samples:
    def __init__(self, seed, n=50_000):
        rng = np.random.default_rng(seed)
        self.x = jnp.asarray(rng.normal(size=(n, 32)))
        self.y = jnp.asarray(rng.normal(size=8))

def from_archive(path):
    table = np.load(path)
    x, y = jnp.asarray(table["x"]), 2.0

    def loss(w):
        return jnp.mean((x @ w) ** 2) + y  # finding
    return jax.jit(jax.value_and_grad(loss))

def make_objective(samples):
    def objective(w):
        return jnp.mean((samples.x @ w) ** 2) + samples.y.sum()  # finding
    return objective

gradient = jax.jit(jax.value_and_grad(make_objective(Samples(0))))
