# a property that jits, and a partial of the epoch's number

from functools import cached_property, partial
import jax
import jax.numpy as jnp

class Predictor:
    def __init__(self, w):
        self.w = w

    def forward(self, x):
        return x @ self.w

    @property
    def compiled(self):
        return jax.jit(self.forward)  # finding

    @cached_property
    def kept(self):
        return jax.jit(self.forward)

    def predict(self, x):
        return self.compiled(x) + self.kept(x)

def loss(w, x, beta=1.0, order=2):
    return beta * jnp.sum((x @ w) ** order)

def anneal(w, xs, epochs):
    for epoch in range(epochs):
        grad = jax.jit(jax.grad(partial(loss, beta=epoch / epochs)))  # finding
        other = jax.jit(jax.grad(partial(loss, order=epoch + 1)))
        for x in xs:
            w = w - grad(w, x) - other(w, x)
    return w

def serve(w, xs):
    predictor = Predictor(w)
    return [predictor.predict(x) for x in xs]

serve(jnp.ones((3, 3)), [jnp.ones(3)] * 50)
