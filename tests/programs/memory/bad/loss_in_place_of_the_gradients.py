# blind: twelfth

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class RNN(eqx.Module):
    cell: eqx.nn.GRUCell
    readout: eqx.nn.Linear

    def __init__(self, in_size, hidden, *, key):
        k1, k2 = jax.random.split(key)
        self.cell = eqx.nn.GRUCell(in_size, hidden, key=k1)
        self.readout = eqx.nn.Linear(hidden, 1, key=k2)

    def __call__(self, xs):
        def step(h, x):
            return self.cell(x, h), None

        h, _ = jax.lax.scan(step, jnp.zeros(self.cell.hidden_size), xs)
        return self.readout(h)[0]


def loss_fn(model, xs, ys):
    preds = jax.vmap(model)(xs)
    return jnp.mean((preds - ys) ** 2)


@eqx.filter_jit
def make_step(model, opt_state, xs, ys, optim):
    grads, loss = eqx.filter_value_and_grad(loss_fn)(model, xs, ys)
    updates, opt_state = optim.update(grads, opt_state)  # finding
    return eqx.apply_updates(model, updates), opt_state, loss


def main():
    model = RNN(3, 16, key=jax.random.key(0))
    optim = optax.adam(1e-2)
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    make_step(model, opt_state, jnp.ones((8, 20, 3)), jnp.ones(8), optim)


if __name__ == "__main__":
    main()
