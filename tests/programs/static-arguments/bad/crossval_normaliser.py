# source: jax-ml/jax#24204
# blind: twenty-first

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Normalised(eqx.Module):
    net: eqx.nn.MLP
    mean: jax.Array = eqx.field(static=True)  # finding
    std: jax.Array = eqx.field(static=True)  # finding-also

    def __init__(self, x, key):
        self.net = eqx.nn.MLP(x.shape[1], "scalar", 16, 1, key=key)
        self.mean = x.mean(axis=0)  # finding-also
        self.std = x.std(axis=0) + 1e-6  # finding-also

    def __call__(self, x):
        mean, std = jax.lax.stop_gradient((self.mean, self.std))
        return self.net((x - mean) / std)


optim = optax.adam(1e-2)


def loss_fn(model, x, y):
    pred = jax.vmap(model)(x)
    return jnp.mean((pred - y) ** 2)


@eqx.filter_jit
def step(model, opt_state, x, y):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, x, y)
    updates, opt_state = optim.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def fit(x, y, key, steps=10):
    model = Normalised(x, key)
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
    for _ in range(steps):
        model, opt_state, loss = step(model, opt_state, x, y)
    return model


def cross_validate(x, y, folds=3):
    splits = np.array_split(np.random.default_rng(0).permutation(90), folds)
    scores = []
    for i, held in enumerate(splits):
        train = np.concatenate([s for j, s in enumerate(splits) if j != i])
        model = fit(x[train], y[train], jax.random.key(i))
        scores.append(float(loss_fn(model, x[held], y[held])))
    return scores


def main():
    rng = np.random.default_rng(1)
    x = jnp.asarray(rng.normal(3.0, 2.0, size=(90, 4)), jnp.float32)
    y = x[:, 0] - 0.5 * x[:, 1]
    print("fold mse", cross_validate(x, y))


if __name__ == "__main__":
    main()
