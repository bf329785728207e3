# source: jax-ml/jax#4367
# blind: fifth
# missed: the loop over the layers stands in the model's own method, behind a `vmap`

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Tower(eqx.Module):
    layers: list

    def __init__(self, width, depth, key):
        keys = jax.random.split(key, depth)
        self.layers = [eqx.nn.Linear(width, width, key=k) for k in keys]

    def __call__(self, x):
        for layer in self.layers:
            x = x + jax.nn.gelu(layer(x))
        return x


def apply(model, x):
    return jax.vmap(model)(x)


def loss_fn(model, x, y):
    pred = eqx.filter_checkpoint(apply)(model, x)  # finding
    return jnp.mean((pred - y) ** 2)


tx = optax.adam(1e-3)


@eqx.filter_jit(donate="all")
def step(model, opt_state, x, y):
    grads = eqx.filter_grad(loss_fn)(model, x, y)
    updates, opt_state = tx.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state


def main():
    model = Tower(32, 6, jax.random.key(0))
    opt_state = tx.init(eqx.filter(model, eqx.is_array))
    for _ in range(3):
        model, opt_state = step(model, opt_state, jnp.ones((8, 32)), jnp.zeros((8, 32)))
    print(model.layers[0].weight.mean())


if __name__ == "__main__":
    main()
