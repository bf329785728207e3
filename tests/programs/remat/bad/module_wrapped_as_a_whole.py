# source: jax-ml/jax#12792
# blind: ninth
# missed: `filter_checkpoint` of a module is not followed

import equinox as eqx
import jax
import jax.numpy as jnp


class Deep(eqx.Module):
    layers: list

    def __init__(self, depth, width, key):
        self.layers = [eqx.nn.Linear(width, width, key=k) for k in jax.random.split(key, depth)]

    def __call__(self, x):
        for layer in self.layers:
            x = x + jax.nn.gelu(layer(x))
        return x


def loss(model, xs, ys):
    forward = eqx.filter_checkpoint(model)  # finding
    return jnp.mean((jax.vmap(forward)(xs) - ys) ** 2)  # finding-also


@eqx.filter_jit(donate="all-except-first")
def step(batch, model):
    grads = eqx.filter_grad(loss)(model, *batch)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -0.01 * g, grads))


if __name__ == "__main__":
    model = Deep(8, 32, jax.random.key(0))
    batch = (jnp.ones((16, 32)), jnp.zeros((16, 32)))
    for _ in range(2):
        model = step(batch, model)
    print(model.layers[0].bias[:2])
