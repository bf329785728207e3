# equinox: filter_jit keeps Python arguments
import equinox as eqx
import jax.numpy as jnp

class Net(eqx.Module):
    weight: jnp.ndarray
    use_bias: bool = eqx.field(static=True)

    def __call__(self, x):
        if self.use_bias:
            x = x + 1
        return self.weight * x

@eqx.filter_jit
def step(model, x, rate):
    if rate > 0:
        x = x * rate
    if model.use_bias:
        x = x * 2
    return model(x)

step(Net(jnp.ones(3), True), jnp.ones(3), 0.1)
