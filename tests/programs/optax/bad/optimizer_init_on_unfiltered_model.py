# source: patrick-kidger/equinox#105
# blind: eighteenth

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class ConvNet(eqx.Module):
    layers: list

    def __init__(self, *, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.layers = [
            eqx.nn.Conv2d(1, 4, 3, key=k1),
            jax.nn.relu,
            eqx.nn.Conv2d(4, 8, 3, key=k2),
            jax.nn.relu,
            jnp.ravel,
            eqx.nn.Linear(8 * 4 * 4, 10, key=k3),
        ]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@eqx.filter_value_and_grad
def loss_fn(model, x, y):
    logits = jax.vmap(model)(x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


@eqx.filter_jit(donate="all")
def step(model, opt_state, x, y, tx):
    loss, grads = loss_fn(model, x, y)
    updates, opt_state = tx.update(grads, opt_state, eqx.filter(model, eqx.is_inexact_array))
    return eqx.apply_updates(model, updates), opt_state, loss


def main():
    model = ConvNet(key=jax.random.key(0))
    tx = optax.adam(1e-3)
    opt_state = tx.init(model)  # finding
    x = jnp.ones((4, 1, 8, 8))
    model, opt_state, loss = step(model, opt_state, x, jnp.array([0, 1, 2, 3]), tx)
    print(loss)


if __name__ == "__main__":
    main()
