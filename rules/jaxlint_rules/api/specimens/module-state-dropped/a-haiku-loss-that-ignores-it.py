# a haiku loss that ignores the new state, and an evaluation that reads the old one
import haiku as hk
import jax
import jax.numpy as jnp
import optax


def net_fn(x, is_training):
    return hk.Linear(1)(hk.BatchNorm(True, True, 0.9)(x, is_training))


net = hk.without_apply_rng(hk.transform_with_state(net_fn))
tx = optax.adam(1e-3)


def loss_fn(params, state, x):
    out, _ = net.apply(params, state, x, True)  # finding
    return jnp.mean(out**2)


def step(params, state, opt_state, x):
    updates, opt_state = tx.update(jax.grad(loss_fn)(params, state, x), opt_state)
    return optax.apply_updates(params, updates), opt_state


def evaluate(params, state, x):
    return net.apply(params, state, x, False)[0].mean()


def main(key, x):
    params, state = net.init(key, x, True)
    params, _ = step(params, state, tx.init(params), x)
    return evaluate(params, state, x)
