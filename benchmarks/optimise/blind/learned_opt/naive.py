"""A learned optimiser: a small network proposes the updates, trained through unrolled tasks."""

import jax
import jax.numpy as jnp
import numpy as np
import optax


def init_rule(key, hidden=16):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (4, hidden)) * 0.5,
        "b1": jnp.zeros(hidden),
        "w2": jax.random.normal(k2, (hidden, 2)) * 0.1,
        "b2": jnp.zeros(2),
    }


def apply_rule(rule, grad, slow, fast, param):
    features = jnp.stack([grad, slow, grad / jnp.sqrt(fast + 1e-6), param], axis=-1)
    h = jnp.tanh(features @ rule["w1"] + rule["b1"])
    out = h @ rule["w2"] + rule["b2"]
    return 0.1 * out[..., 0] * jnp.exp(0.1 * out[..., 1]) - 0.05 * slow


class Task:
    """Regression of a random function by a tiny network."""

    def __init__(self, rng):
        self.x = rng.uniform(-1, 1, (32, 2))
        direction = rng.normal(size=(2, 3))
        self.y = np.sin(2 * self.x @ direction).sum(axis=1, keepdims=True)
        self.init = {
            "a": rng.normal(size=(2, 12)),
            "b": np.zeros(12),
            "c": rng.normal(size=(12, 1)) / np.sqrt(12),
        }

    def loss(self, params):
        h = jnp.tanh(self.x @ params["a"] + params["b"])
        return jnp.mean((h @ params["c"] - self.y) ** 2)


def unroll(rule, task, steps):
    params = jax.tree.map(jnp.asarray, task.init)
    slow = jax.tree.map(jnp.zeros_like, params)
    fast = jax.tree.map(jnp.zeros_like, params)
    total = 0.0
    for _ in range(steps):
        loss, grads = jax.value_and_grad(task.loss)(params)
        slow = jax.tree.map(lambda s, g: 0.9 * s + 0.1 * g, slow, grads)
        fast = jax.tree.map(lambda f, g: 0.99 * f + 0.01 * g**2, fast, grads)
        updates = jax.tree.map(lambda g, s, f, p: apply_rule(rule, g, s, f, p), grads, slow, fast, params)
        params = jax.tree.map(lambda p, u: p + u, params, updates)
        total = total + loss
    return total / steps, params


def meta_loss(rule, tasks, steps):
    return jnp.mean(jnp.array([unroll(rule, task, steps)[0] for task in tasks]))


def main():
    rng = np.random.default_rng(2)
    rule = init_rule(jax.random.PRNGKey(2))
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))
    opt_state = optimizer.init(rule)
    history = []
    for iteration in range(1, 13):
        tasks = [Task(rng) for _ in range(3)]
        loss, grads = jax.value_and_grad(meta_loss)(rule, tasks, 10)
        updates, opt_state = optimizer.update(grads, opt_state)
        rule = optax.apply_updates(rule, updates)
        history.append(loss.item())
        if iteration % 4 == 0:
            print(f"iteration {iteration}: meta loss {np.mean(history[-4:]):.4f}")
    tests = np.random.default_rng(99)
    finals = []
    for _ in range(6):
        task = Task(tests)
        _, params = unroll(rule, task, 30)
        finals.append(float(task.loss(params)))
    print(f"after 30 steps: mean {np.mean(finals):.3f} worst {max(finals):.3f}")


if __name__ == "__main__":
    main()
