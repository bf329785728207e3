# source: patrick-kidger/equinox#361
# blind: first

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


@eqx.filter_jit
def make_step(model, opt_state, x, y, step, optim):
    def loss_fn(m):
        pred = jax.vmap(m)(x)
        weight = jnp.minimum(1.0, step / 100)
        return weight * jnp.mean((pred - y) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, opt_state = optim.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def main(steps=200):
    model = eqx.nn.MLP(2, 1, 8, 2, key=jax.random.key(0))
    optim = optax.adam(1e-3)
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    x, y = jnp.ones((4, 2)), jnp.ones((4, 1))
    for step in range(steps):
        model, opt_state, _ = make_step(model, opt_state, x, y, step, optim)  # finding
    return model


if __name__ == "__main__":
    main()
