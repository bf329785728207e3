# filtered models, models without functions, static functions, and an optimiser without state

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Net(eqx.Module):
    weight: jax.Array
    activation: Callable = eqx.field(static=True)

    def __call__(self, x):
        return self.activation(x @ self.weight)


model = eqx.nn.MLP(2, 1, 32, 2, key=jax.random.key(0))
optim = optax.adam(1e-3)
opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
plain = optax.sgd(0.1).init(model)
linear = optim.init(eqx.nn.Linear(2, 1, key=jax.random.key(1)))
own = optim.init(Net(jnp.ones((3, 3)), jax.nn.relu))
parts = optim.init(eqx.partition(model, eqx.is_inexact_array)[0])
