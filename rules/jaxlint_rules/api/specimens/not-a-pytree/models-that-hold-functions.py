# models that hold functions

import equinox as eqx
import jax
import jax.numpy as jnp

class Autoencoder(eqx.Module):
    encoder: eqx.nn.MLP
    decoder: eqx.nn.Linear

    def __init__(self, key):
        self.encoder = eqx.nn.MLP(8, 2, 64, 2, key=key)
        self.decoder = eqx.nn.Linear(2, 8, key=key)

    def __call__(self, x):
        return self.decoder(self.encoder(x))

class Plain(eqx.Module):
    inner: eqx.nn.Linear
    activation: callable = eqx.field(static=True)

    def __call__(self, x):
        return self.activation(self.inner(x))

def loss(model, x):
    return jnp.mean((jax.vmap(model)(x) - x) ** 2)

@eqx.filter_jit
def step(model, x):
    value, grads = jax.value_and_grad(loss)(model, x)  # finding
    again, filtered = eqx.filter_value_and_grad(loss)(model, x)
    towards = jax.grad(loss, argnums=1)(model, x)
    return value, grads, again, filtered, towards

compiled = jax.jit(loss)
x = jnp.ones((32, 8))
model = Autoencoder(jax.random.key(0))
plain = Plain(eqx.nn.Linear(8, 8, key=jax.random.key(1)), jax.nn.relu)
step(model, x)
compiled(model, x)  # finding
compiled(plain, x)
jax.grad(loss)(plain, x)
eqx.filter_jit(loss)(model, x)
