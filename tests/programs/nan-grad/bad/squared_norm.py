# source: jax-ml/jax#21723

import equinox as eqx
import jax
import jax.numpy as jnp


class Linear(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __call__(self, x):
        return self.weight @ x + self.bias


def weight_decay(model):
    return jnp.linalg.norm(model.weight) ** 2 + jnp.linalg.norm(model.bias) ** 2  # finding


@eqx.filter_grad
def loss_grad(model, x, y):
    pred = jax.vmap(model)(x)
    return jnp.mean((pred - y) ** 2) + 1e-3 * weight_decay(model)


def main():
    model = Linear(jnp.ones((2, 3)), jnp.zeros(2))
    print(loss_grad(model, jnp.ones((4, 3)), jnp.ones((4, 2))).bias)


main()
