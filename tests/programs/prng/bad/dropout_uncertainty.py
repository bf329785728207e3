# source: jax-ml/jax#170
# blind: nineteenth

import jax
import jax.numpy as jnp
import flax.linen as nn
import optax


class DropoutRegressor(nn.Module):
    width: int = 64
    rate: float = 0.3

    @nn.compact
    def __call__(self, x, train):
        for _ in range(2):
            x = nn.relu(nn.Dense(self.width)(x))
            x = nn.Dropout(self.rate, deterministic=not train)(x)
        return nn.Dense(1)(x)[:, 0]


model = DropoutRegressor()
tx = optax.adam(3e-3)


@jax.jit
def train_step(params, opt_state, key, x, y):
    def loss_fn(p):
        pred = model.apply(p, x, train=True, rngs={"dropout": key})
        return jnp.mean((pred - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def mc_forward(params, key, x):
    return model.apply(params, x, train=True, rngs={"dropout": key})


def predictive(params, key, x, samples):
    draws = [mc_forward(params, key, x) for _ in range(samples)]  # finding
    draws = jnp.stack(draws)
    return draws.mean(axis=0), draws.std(axis=0)


def main():
    root = jax.random.key(0)
    root, k_x, k_init = jax.random.split(root, 3)
    x = jax.random.uniform(k_x, (256, 1), minval=-2.0, maxval=2.0)
    y = jnp.sin(3.0 * x[:, 0])
    params = model.init(k_init, x, train=False)
    opt_state = tx.init(params)
    for _ in range(300):
        root, k_drop = jax.random.split(root)
        params, opt_state, loss = train_step(params, opt_state, k_drop, x, y)
    grid = jnp.linspace(-4.0, 4.0, 50)[:, None]
    root, k_mc = jax.random.split(root)
    mean, std = predictive(params, k_mc, grid, 20)
    print("loss", float(loss), "mean predictive std", float(std.mean()))


if __name__ == "__main__":
    main()
