# methods of modules with arrays, and modules, where JAX hashes its function

import equinox as eqx
import jax
import jax.numpy as jnp

class Cell(eqx.Module):
    weight: jax.Array

    def step(self, carry, x):
        return jnp.tanh(self.weight @ carry + x), None

    def unfinished(self, carry):
        return jnp.sum(carry) < 10.0

    def forward(self, carry):
        return self.weight @ carry

    def __call__(self, xs):
        carry, _ = jax.lax.scan(self.step, xs[0], xs)  # finding
        return jax.lax.while_loop(
            self.unfinished,  # finding
            self.forward,  # finding
            carry,
        )

class Potential(eqx.Module):
    layer: eqx.nn.Linear
    scale: float

    def __init__(self, key):
        self.layer = eqx.nn.Linear(3, 3, key=key)
        self.scale = 2.0

    def forward(self, x):
        return self.layer(x) * self.scale

    def __call__(self, x):
        forward = jax.jit(self.forward)  # finding
        return forward(x)

def evaluate(xs):
    model = Potential(jax.random.key(0))
    return jax.jit(model)(xs)  # finding

class Blocks(eqx.Module):
    layers: list

    def run(self, x):
        return x

    def __call__(self, x):
        return jax.checkpoint(self.run)(x)  # finding
