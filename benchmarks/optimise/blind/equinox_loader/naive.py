import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class DataLoader:
    def __init__(self, x, y, batch_size, seed):
        self.x, self.y, self.batch_size = x, y, batch_size
        self.rng = np.random.RandomState(seed)

    def __iter__(self):
        order = self.rng.permutation(len(self.x))
        for i in range(len(self.x) // self.batch_size):
            picked = order[i * self.batch_size : (i + 1) * self.batch_size]
            yield self.x[picked], self.y[picked]


def compute_loss(model, x, y):
    prediction = jax.vmap(model)(x)
    return jnp.mean((prediction[:, 0] - y) ** 2)


@eqx.filter_jit
def make_step(model, opt_state, x, y, optim):
    loss, grads = eqx.filter_value_and_grad(compute_loss)(model, x, y)
    updates, opt_state = optim.update(grads, opt_state, model)
    model = eqx.apply_updates(model, updates)
    return model, opt_state, loss


def main():
    rng = np.random.RandomState(0)
    x = rng.uniform(-1, 1, size=(2048, 4))
    y = np.sin(3 * x[:, 0]) * x[:, 1] + x[:, 2] * x[:, 3]
    loader = DataLoader(x, y, 16, seed=1)
    model = eqx.nn.MLP(4, 1, 32, 2, key=jax.random.PRNGKey(0))
    optim = optax.adam(3e-3)
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
    for epoch in range(12):
        total, n = 0.0, 0
        for batch_x, batch_y in loader:
            model, opt_state, loss = make_step(model, opt_state, jnp.array(batch_x), jnp.array(batch_y), optim)
            total += loss.item()
            n += 1
        print(f"epoch {epoch:2d}  train loss {total / n:.5f}  test loss {compute_loss(model, x, y).item():.5f}")


if __name__ == "__main__":
    main()
