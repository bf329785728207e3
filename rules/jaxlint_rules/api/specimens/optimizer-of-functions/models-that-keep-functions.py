# models of equinox that keep their activations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Net(eqx.Module):
    weight: jax.Array
    activation: Callable

    def __call__(self, x):
        return self.activation(x @ self.weight)


model = eqx.nn.MLP(2, 1, 32, 2, key=jax.random.key(0))
optim = optax.adam(1e-3)
opt_state = optim.init(model)  # finding
chained = optax.chain(optax.clip(1.0), optax.sgd(0.1, momentum=0.9)).init(Net(jnp.ones((3, 3)), jax.nn.relu))  # finding
