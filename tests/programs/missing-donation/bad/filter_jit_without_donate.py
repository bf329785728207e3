# source: patrick-kidger/equinox#640

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)


@eqx.filter_value_and_grad
def loss_fn(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


@eqx.filter_jit  # finding-also
def make_step(model, opt_state, x, y):  # finding
    loss, grads = loss_fn(model, x, y)
    updates, opt_state = tx.update(grads, opt_state)
    model = eqx.apply_updates(model, updates)
    return model, opt_state, loss


def main(n_steps=3):
    model = eqx.nn.MLP(4, 1, 32, 2, key=jax.random.key(0))
    opt_state = tx.init(eqx.filter(model, eqx.is_inexact_array))
    xs, ys = jnp.ones((n_steps, 8, 4)), jnp.ones((n_steps, 8, 1))
    for x, y in zip(xs, ys):
        model, opt_state, loss = make_step(model, opt_state, x, y)  # finding-also
    return loss


if __name__ == "__main__":
    print(main())
