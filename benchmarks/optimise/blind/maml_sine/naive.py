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


def meta_loss(params, tasks):
    losses = []
    for x_train, y_train, x_test, y_test in tasks:
        adapted = adapt(params, x_train, y_train)
        losses.append(mse(adapted, x_test, y_test))
    return jnp.mean(jnp.array(losses))


def sample_task(rng):
    amplitude, phase = rng.uniform(0.5, 3.0), rng.uniform(0, np.pi)
    x = rng.uniform(-4, 4, size=(20, 1))
    y = amplitude * np.sin(x + phase)
    return x[:10], y[:10], x[10:], y[10:]


def main():
    rng = np.random.default_rng(0)
    params = init(jax.random.PRNGKey(0))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    opt_state = tx.init(params)
    recent = []
    for step in range(24):
        tasks = [sample_task(rng) for _ in range(4)]
        loss, grads = jax.value_and_grad(meta_loss)(params, tasks)
        updates, opt_state = tx.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        recent.append(loss.item())
        if step % 6 == 5:
            print(f"step {step + 1} meta loss {np.mean(recent):.4f} gradient {optax.global_norm(grads):.3f}")
            recent.clear()


if __name__ == "__main__":
    main()
