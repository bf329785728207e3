# the square of a norm of parameters

import equinox as eqx
import jax
import jax.numpy as jnp

class Linear(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __call__(self, x):
        return self.weight @ x + self.bias

def penalty(model):
    return jnp.linalg.norm(model.bias) ** 2 + jnp.sum(model.weight**2)  # finding

@eqx.filter_grad
def gradient(model, x, y):
    return jnp.linalg.norm(model(x) - y) ** 2 + penalty(model)

def main(x, y):
    model = Linear(jnp.ones((2, 3)), jnp.zeros(2))
    print(jnp.linalg.norm(model.weight) ** 2)
    return gradient(model, x, y)
