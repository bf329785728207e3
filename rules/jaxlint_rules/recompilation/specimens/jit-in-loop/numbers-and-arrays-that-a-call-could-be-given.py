# numbers and arrays that a call could be given

import functools
import jax
import jax.numpy as jnp

def kernel(x, y, scale):
    return jnp.exp(-jnp.sum((x - y) ** 2) / scale**2)

def gram(xs, scale):
    k = jax.jit(functools.partial(kernel, scale=scale))  # finding
    return k(xs[0], xs[1])

def search(xs):
    return [gram(xs, scale) for scale in (0.5, 1.0, 2.0)]

def integrate(x, beta, steps):
    @jax.jit
    def run(x):  # finding
        return jax.lax.fori_loop(0, steps, lambda i, s: s * beta, x)

    return run(x)

def sweep(x):
    out = []
    for beta in jnp.linspace(0.0, 1.0, 20):
        out.append(integrate(x, beta, 50))
    return out

def evaluate(w):
    total = 0.0
    for x in jnp.ones((8, 4, 3)):
        loss = jax.jit(lambda w: jnp.mean((x @ w) ** 2))  # finding
        total = total + loss(w)
    return total

def train(w):
    for x in jnp.ones((8, 4, 3)):
        grad = jax.jit(jax.grad(lambda w: jnp.mean((x @ w) ** 2)))  # finding
        w = w - 0.1 * grad(w)
    return w

class Surrogate:
    def __init__(self, coef):
        self.coef = coef

    def poly(self, x):
        return jnp.polyval(self.coef, x)

    @property
    def slope(self):
        return jax.jit(jax.grad(self.poly))  # finding

    def compiled(self):
        return jax.jit(self.poly)  # finding

def descend(model, x):
    for _ in range(10):
        x = x - 0.1 * model.slope(x) * model.compiled()(x)
    return x

descend(Surrogate(jnp.ones(3)), 1.0)
