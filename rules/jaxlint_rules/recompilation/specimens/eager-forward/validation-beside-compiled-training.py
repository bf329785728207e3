# a validation that runs operation by operation, in a function that also trains

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

class Net(eqx.Module):
    layers: list

    def __init__(self, key):
        keys = jax.random.split(key, 2)
        self.layers = [eqx.nn.Linear(8, 8, key=keys[0]), eqx.nn.Linear(8, 1, key=keys[1])]

    def __call__(self, x):
        return self.layers[1](jax.nn.relu(self.layers[0](x)))

def train(model, optimizer, batches, held_out):
    state = optimizer.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_jit(donate="all")
    def train_step(model, state, x, y):
        def loss_fn(model):
            return jnp.mean((jax.vmap(model)(x) - y) ** 2)

        loss, gradient = eqx.filter_value_and_grad(loss_fn)(model)
        updates, state = optimizer.update(gradient, state)
        return eqx.apply_updates(model, updates), state, loss

    def validate_step(model, x, y):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)  # finding

    for epoch in range(10):
        for x, y in batches:
            model, state, loss = train_step(model, state, x, y)
        total = 0.0
        for x, y in held_out:
            total += validate_step(model, x, y)
        print(epoch, total)
    return model

def main(batches, held_out):
    return train(Net(jax.random.key(0)), optax.adam(1e-3), batches, held_out)

main(load("train"), load("test"))
