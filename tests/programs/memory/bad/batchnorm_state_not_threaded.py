# blind: eleventh

"""Equinox: the state that a BatchNorm returns is dropped every step."""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class ConvNet(eqx.Module):
    conv: eqx.nn.Conv2d
    norm: eqx.nn.BatchNorm
    head: eqx.nn.Linear

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.conv = eqx.nn.Conv2d(1, 8, 3, key=k1)
        self.norm = eqx.nn.BatchNorm(8, axis_name="batch", mode="ema")
        self.head = eqx.nn.Linear(8, 10, key=k2)

    def __call__(self, x, state):
        h = self.conv(x)
        h, state = self.norm(h, state)
        h = jax.nn.relu(h).mean((1, 2))
        return self.head(h), state


def loss_fn(model, state, x, y):
    forward = jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
    logits, state = forward(x, state)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), state


tx = optax.adam(1e-3)


@eqx.filter_jit(donate="all-except-first")
def step(batch, model, state, opt_state):
    x, y = batch
    (loss, state), grads = eqx.filter_value_and_grad(loss_fn, has_aux=True)(model, state, x, y)  # finding
    updates, opt_state = tx.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def fit(batches):
    model, state = eqx.nn.make_with_state(ConvNet)(jax.random.key(0))
    opt_state = tx.init(eqx.filter(model, eqx.is_inexact_array))
    for batch in batches:
        model, opt_state, loss = step(batch, model, jax.tree.map(jnp.copy, state), opt_state)
    return model, state


if __name__ == "__main__":
    batch = (jnp.ones((4, 1, 8, 8)), jnp.zeros(4, jnp.int32))
    fit([batch] * 2)
