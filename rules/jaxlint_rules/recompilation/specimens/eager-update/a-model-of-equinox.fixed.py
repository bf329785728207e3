# a model of equinox, whose leaves may be functions

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def loss_fn(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


grad_fn = eqx.filter_jit(eqx.filter_value_and_grad(loss_fn))


def train(batches):
    model = eqx.nn.MLP(4, 1, 8, 2, key=jax.random.key(0))
    optimizer = optax.adam(1e-3)
    opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
    losses = []

    @eqx.filter_jit
    def train_step(model, opt_state, x, y):
        loss, grads = grad_fn(model, x, y)
        updates, opt_state = optimizer.update(grads, opt_state)
        model = eqx.apply_updates(model, updates)
        return model, opt_state, loss

    for x, y in batches:
        model, opt_state, loss = train_step(model, opt_state, x, y)
        losses.append(float(loss))
    return model, losses
