# models that vmap maps over rows: a scalar for each row beside a column of targets
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Regressor(eqx.Module):
    mlp: eqx.nn.MLP

    def __init__(self, features, size, key):
        self.mlp = eqx.nn.MLP(features, size, 8, 2, key=key)

    def __call__(self, x):
        return self.mlp(x)


def wrong(model, x, y):
    pred = jax.vmap(model)(x)
    return jnp.mean(optax.huber_loss(pred, y))  # finding


def right(model, x, y):
    pred = jax.vmap(model)(x)
    return jnp.mean(optax.huber_loss(pred, y[:, 0]))


def column(model, x, y):
    pred = jax.vmap(model)(x)
    return jnp.mean(optax.huber_loss(pred, y))


def main():
    table = np.random.default_rng(0).standard_normal((64, 6)).astype(np.float32)
    x, y = table[:, :-1], table[:, -1:]
    key = jax.random.key(0)
    scalar, one = Regressor(5, "scalar", key), Regressor(5, 1, key)
    for _ in range(3):
        rows = np.random.default_rng(1).choice(len(x), 16, replace=False)
        print(
            eqx.filter_jit(wrong)(scalar, x[rows], y[rows]),
            eqx.filter_jit(right)(scalar, x[rows], y[rows]),
            eqx.filter_jit(column)(one, x[rows], y[rows]),
        )


main()
