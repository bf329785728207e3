# After the maml-jax examples and learn2learn's batching: vmap over the tasks, the meta step jitted and donated.
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax


def init(key):
    sizes = [1, 40, 40, 1]
    keys = jax.random.split(key, 3)
    return [(jax.random.normal(k, (m, n)) * np.sqrt(2 / m), jnp.zeros(n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def net(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def mse(params, x, y):
    return jnp.mean((net(params, x) - y) ** 2)


def adapt(params, x, y, steps=2, lr=0.005):
    for _ in range(steps):
        grads = jax.grad(mse)(params, x, y)
        params = jax.tree.map(lambda p, g: p - lr * g, params, grads)
    return params


def task_loss(params, x_train, y_train, x_test, y_test):
    return mse(adapt(params, x_train, y_train), x_test, y_test)


def meta_loss(params, tasks):
    return jnp.mean(jax.vmap(task_loss, (None, 0, 0, 0, 0))(params, *tasks))


def sample_task(rng):
    amplitude, phase = rng.uniform(0.5, 3.0), rng.uniform(0, np.pi)
    x = rng.uniform(-4, 4, size=(20, 1))
    y = amplitude * np.sin(x + phase)
    return x[:10], y[:10], x[10:], y[10:]


def main():
    rng = np.random.default_rng(0)
    params = jax.jit(init)(jax.random.PRNGKey(0))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    opt_state = tx.init(params)

    @partial(jax.jit, donate_argnums=(0, 1))
    def train_step(params, opt_state, tasks):
        loss, grads = jax.value_and_grad(meta_loss)(params, tasks)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss, optax.global_norm(grads)

    recent = []
    for step in range(24):
        tasks = [sample_task(rng) for _ in range(4)]
        batch = tuple(np.stack(part).astype(np.float32) for part in zip(*tasks))
        params, opt_state, loss, norm = train_step(params, opt_state, batch)
        recent.append(loss)
        if step % 6 == 5:
            print(f"step {step + 1} meta loss {np.mean(jax.device_get(recent)):.4f} gradient {norm:.3f}")
            recent.clear()


if __name__ == "__main__":
    main()
