# sizes of an equinox module that a step returns
import equinox as eqx
import jax
import jax.numpy as jnp

class Cell(eqx.Module):
    weight: jax.Array
    size: int

    def __call__(self, x):
        return jnp.reshape(self.weight * x, (self.size, -1))

@eqx.filter_jit
def step(model, x):
    grads = eqx.filter_grad(lambda model: jnp.sum(model(x)))(model)
    return eqx.apply_updates(model, grads)

def train(x):
    first = step(Cell(jnp.ones(4), 2), x)
    return step(first, x)
