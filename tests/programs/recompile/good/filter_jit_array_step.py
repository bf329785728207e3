# source: patrick-kidger/equinox#640

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

schedule = optax.cosine_decay_schedule(1.0, 100)
optim = optax.adam(1e-3)


@eqx.filter_jit(donate="all")
def make_step(model, opt_state, x, step):
    @eqx.filter_grad
    def loss(m):
        return schedule(step) * jnp.mean((jax.vmap(m)(x) - x) ** 2)

    updates, opt_state = optim.update(loss(model), opt_state)
    return eqx.apply_updates(model, updates), opt_state


def train(n_steps):
    model = eqx.nn.MLP(4, 4, 8, 1, key=jax.random.key(0))
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    for i in range(n_steps):
        model, opt_state = make_step(model, opt_state, jnp.ones((3, 4)), jnp.asarray(i))
    return model


if __name__ == "__main__":
    print(train(4).layers[0].bias)
