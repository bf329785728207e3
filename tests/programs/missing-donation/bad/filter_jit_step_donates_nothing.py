# source: patrick-kidger/diffrax#574
# blind: fifth

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Flow(eqx.Module):
    field: eqx.nn.MLP

    def __init__(self, dim, key):
        self.field = eqx.nn.MLP(dim + 1, dim, 256, 3, key=key)

    def __call__(self, t, x):
        return self.field(jnp.concatenate([x, t[None]]))


def matching_loss(model, x0, x1, t):
    xt = (1 - t)[:, None] * x0 + t[:, None] * x1
    velocity = jax.vmap(model)(t, xt)
    return jnp.mean((velocity - (x1 - x0)) ** 2)


optim = optax.adamw(3e-4)


@eqx.filter_jit  # finding
def make_step(model, opt_state, x0, x1, t):
    loss, grads = eqx.filter_value_and_grad(matching_loss)(model, x0, x1, t)
    updates, opt_state = optim.update(grads, opt_state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), opt_state, loss


def main(steps=3):
    key = jax.random.key(0)
    model = Flow(2, key)
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    for i in range(steps):
        k0, k1, kt = jax.random.split(jax.random.fold_in(key, i), 3)
        x0, x1 = jax.random.normal(k0, (64, 2)), jax.random.normal(k1, (64, 2)) + 2.0
        model, opt_state, loss = make_step(model, opt_state, x0, x1, jax.random.uniform(kt, (64,)))  # finding-also
    print(loss)


if __name__ == "__main__":
    main()
