import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax


class Field(eqx.Module):
    mlp: eqx.nn.MLP

    def __init__(self, key):
        self.mlp = eqx.nn.MLP(in_size=2, out_size=2, width_size=32, depth=2, activation=jnp.tanh, key=key)

    def __call__(self, t, y):
        return self.mlp(y)


def rk4_step(field, t, y, dt):
    k1 = field(t, y)
    k2 = field(t + dt / 2, y + dt / 2 * k1)
    k3 = field(t + dt / 2, y + dt / 2 * k2)
    k4 = field(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


class NeuralODE(eqx.Module):
    field: Field

    def __call__(self, ts, y0):
        ys = [y0]
        y = y0
        for i in range(len(ts) - 1):
            y = rk4_step(self.field, ts[i], y, ts[i + 1] - ts[i])
            ys.append(y)
        return jnp.stack(ys)


def spiral(rng, count, ts):
    matrix = np.array([[-0.1, 2.0], [-2.0, -0.1]])
    starts = rng.uniform(-1, 1, size=(count, 2))
    paths = np.zeros((count, len(ts), 2))
    for i, y in enumerate(starts):
        for j in range(len(ts)):
            paths[i, j] = y
            for _ in range(10):
                y = y + 0.1 * (ts[1] - ts[0]) * (matrix @ y**3)
    return paths


def loss_fn(model, ts, batch):
    predictions = jax.vmap(model, in_axes=(None, 0))(ts, batch[:, 0])
    return jnp.mean((batch - predictions) ** 2)


def train(model, ts, data, steps, batch_size, learning_rate, seed):
    optimizer = optax.adabelief(learning_rate)
    state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
    grad_fn = eqx.filter_value_and_grad(loss_fn)
    key = jr.PRNGKey(seed)
    losses = []
    for step in range(steps):
        key, subkey = jr.split(key)
        rows = jr.choice(subkey, len(data), (batch_size,), replace=False)
        loss, grads = grad_fn(model, ts, jnp.asarray(data)[rows])
        updates, state = optimizer.update(grads, state, model)
        model = eqx.apply_updates(model, updates)
        losses.append(loss.item())
        if (step + 1) % 5 == 0:
            print(f"step {step + 1}: loss {np.mean(losses[-5:]):.5f}")
    return model


def main():
    rng = np.random.default_rng(3)
    ts = jnp.linspace(0.0, 3.0, 13)
    data = spiral(rng, 64, np.asarray(ts))
    model = NeuralODE(Field(jr.PRNGKey(0)))
    model = train(model, ts, data, 20, 16, 3e-3, 1)
    test = spiral(rng, 16, np.asarray(ts))
    error = loss_fn(model, ts, jnp.asarray(test))
    print(f"test error {error:.5f}")


if __name__ == "__main__":
    main()
