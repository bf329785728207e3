import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Net(eqx.Module):
    layers: list

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.layers = [eqx.nn.Linear(2, 32, key=k1), jax.nn.relu, eqx.nn.Linear(32, 1, key=k2)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def loss_fn(model, x, y):
    pred = jax.vmap(model)(x)
    return jnp.mean((pred - y) ** 2)


def main():
    key = jax.random.PRNGKey(0)
    model = Net(key)
    optim = optax.adamw(1e-3)
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
    for step in range(150):
        key, xk = jax.random.split(key)
        x = jax.random.normal(xk, (64, 2))
        y = jnp.sin(x[:, :1]) + x[:, 1:]
        loss, grads = eqx.filter_value_and_grad(loss_fn)(model, x, y)
        updates, opt_state = optim.update(grads, opt_state, eqx.filter(model, eqx.is_inexact_array))
        model = eqx.apply_updates(model, updates)
        if step % 50 == 0:
            print(step, loss)


main()
