# blind: thirteenth

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Net(eqx.Module):
    conv: eqx.nn.Conv2d
    norm: eqx.nn.BatchNorm
    head: eqx.nn.Linear

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.conv = eqx.nn.Conv2d(3, 16, 3, padding=1, key=k1)
        self.norm = eqx.nn.BatchNorm(16, axis_name="batch", mode="batch")
        self.head = eqx.nn.Linear(16, 10, key=k2)

    def __call__(self, x, state):
        x = self.conv(x)
        x, state = self.norm(x, state)
        return self.head(jax.nn.relu(x).mean(axis=(1, 2))), state


def loss_fn(model, state, x, y):
    apply = jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
    logits, state = apply(x, state)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), state


def train(loader, key):
    model, state = eqx.nn.make_with_state(Net)(key)
    tx = optax.adam(1e-3)
    opt_state = tx.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit  # finding-other
    def step(model, state, opt_state, x, y):
        (loss, new_state), grads = eqx.filter_value_and_grad(loss_fn, has_aux=True)(model, state, x, y)
        updates, opt_state = tx.update(grads, opt_state, model)
        return eqx.apply_updates(model, updates), new_state, opt_state, loss

    for x, y in loader:
        model, _, opt_state, loss = step(model, state, opt_state, x, y)  # finding
    return eqx.nn.inference_mode(model), state
