# source: jax-ml/jax#1052
# blind: second

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def softplus(x, threshold=20.0):
    return jnp.where(x > threshold, x, jnp.log1p(jnp.exp(x)))  # finding


class Heteroscedastic(eqx.Module):
    trunk: eqx.nn.MLP
    mean: eqx.nn.Linear
    spread: eqx.nn.Linear

    def __init__(self, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.trunk = eqx.nn.MLP(1, 32, 32, 2, key=k1)
        self.mean = eqx.nn.Linear(32, 1, key=k2)
        self.spread = eqx.nn.Linear(32, 1, key=k3)

    def __call__(self, x):
        h = self.trunk(x)
        return self.mean(h)[0], softplus(self.spread(h)[0])


def nll(model, x, y):
    mean, sigma = jax.vmap(model)(x)
    sigma = sigma + 1e-3
    return jnp.mean(0.5 * ((y - mean) / sigma) ** 2 + jnp.log(sigma))


@eqx.filter_jit
def step(model, state, x, y):
    loss, grads = eqx.filter_value_and_grad(nll)(model, x, y)
    updates, state = optax.adam(1e-3).update(grads, state)
    return eqx.apply_updates(model, updates), state, loss


if __name__ == "__main__":
    model = Heteroscedastic(jax.random.key(0))
    state = optax.adam(1e-3).init(eqx.filter(model, eqx.is_array))
    x = jnp.linspace(-500, 500, 64)[:, None]
    y = x[:, 0] ** 2
    for _ in range(3):
        model, state, loss = step(model, state, x, y)
    print(loss)
