"""A learned optimiser: a small network proposes the updates, trained through unrolled tasks.

The expert maps over the tasks, scans over their steps, and compiles the step of the rule.
"""

import functools

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
        x = rng.uniform(-1, 1, (32, 2))
        direction = rng.normal(size=(2, 3))
        y = np.sin(2 * x @ direction).sum(axis=1, keepdims=True)
        init = {
            "a": rng.normal(size=(2, 12)),
            "b": np.zeros(12),
            "c": rng.normal(size=(12, 1)) / np.sqrt(12),
        }
        self.data = jax.tree.map(np.float32, (x, y, init))


def task_loss(params, x, y):
    h = jnp.tanh(x @ params["a"] + params["b"])
    return jnp.mean((h @ params["c"] - y) ** 2)


def unroll(rule, task, steps):
    x, y, params = task
    slow = jax.tree.map(jnp.zeros_like, params)
    fast = jax.tree.map(jnp.zeros_like, params)

    def body(carry, _):
        params, slow, fast = carry
        loss, grads = jax.value_and_grad(task_loss)(params, x, y)
        slow = jax.tree.map(lambda s, g: 0.9 * s + 0.1 * g, slow, grads)
        fast = jax.tree.map(lambda f, g: 0.99 * f + 0.01 * g**2, fast, grads)
        updates = jax.tree.map(lambda g, s, f, p: apply_rule(rule, g, s, f, p), grads, slow, fast, params)
        params = jax.tree.map(lambda p, u: p + u, params, updates)
        return (params, slow, fast), loss

    (params, _, _), losses = jax.lax.scan(body, (params, slow, fast), None, length=steps)
    return jnp.mean(losses), params


def meta_loss(rule, tasks, steps):
    return jnp.mean(jax.vmap(unroll, (None, 0, None))(rule, tasks, steps)[0])


@functools.partial(jax.jit, static_argnums=2)
def final_loss(rule, task, steps):
    x, y, _ = task
    return task_loss(unroll(rule, task, steps)[1], x, y)


def main():
    rng = np.random.default_rng(2)
    rule = init_rule(jax.random.PRNGKey(2))
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))
    opt_state = optimizer.init(rule)
    history = []

    @jax.jit
    def meta_step(rule, opt_state, tasks):
        loss, grads = jax.value_and_grad(meta_loss)(rule, tasks, 10)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(rule, updates), opt_state, loss

    for iteration in range(1, 13):
        tasks = jax.tree.map(lambda *leaves: np.stack(leaves), *[Task(rng).data for _ in range(3)])
        rule, opt_state, loss = meta_step(rule, opt_state, tasks)
        history.append(loss)
        if iteration % 4 == 0:
            print(f"iteration {iteration}: meta loss {np.mean(history[-4:]):.4f}")
    tests = np.random.default_rng(99)
    finals = []
    for _ in range(6):
        finals.append(float(final_loss(rule, Task(tests).data, 30)))
    print(f"after 30 steps: mean {np.mean(finals):.3f} worst {max(finals):.3f}")


if __name__ == "__main__":
    main()
