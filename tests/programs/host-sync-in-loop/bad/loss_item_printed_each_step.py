# source: patrick-kidger/equinox#252
# blind: first

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def fit(model, data, steps):
    optim = optax.adam(1e-2)
    opt_state = optim.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_value_and_grad
    def loss_fn(model):
        return jnp.mean(jax.vmap(model)(data) ** 2)

    @eqx.filter_jit(donate="all")
    def make_step(model, opt_state):
        loss, grads = loss_fn(model)
        updates, opt_state = optim.update(grads, opt_state)
        return loss, eqx.apply_updates(model, updates), opt_state

    for step in range(steps):
        loss, model, opt_state = make_step(model, opt_state)
        loss = loss.item()  # finding
        print(f"step={step}, loss={loss}")
    return model


if __name__ == "__main__":
    fit(eqx.nn.MLP(2, 1, 8, 1, key=jax.random.key(0)), jnp.ones((16, 2)), 20)
