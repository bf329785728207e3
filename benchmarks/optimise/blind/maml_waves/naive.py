"""Model-agnostic meta-learning on sine regression."""
import jax
import jax.numpy as jnp
import numpy as np
import optax


class SineTasks:
    """Sine waves of random amplitude and phase."""

    def __init__(self, seed, shots=10):
        self.rng = np.random.RandomState(seed)
        self.shots = shots

    def sample(self):
        amplitude = self.rng.uniform(0.1, 5.0)
        phase = self.rng.uniform(0.0, np.pi)
        x = self.rng.uniform(-5.0, 5.0, size=(2 * self.shots, 1))
        y = amplitude * np.sin(x - phase)
        return (x[:self.shots], y[:self.shots]), (x[self.shots:], y[self.shots:])


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (m, n)) * np.sqrt(2.0 / m), jnp.zeros(n))
        for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def mlp(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def mse(params, batch):
    x, y = batch
    return jnp.mean((mlp(params, x) - y) ** 2)


def adapt(params, support, inner_lr, inner_steps):
    for _ in range(inner_steps):
        grads = jax.grad(mse)(params, support)
        params = jax.tree.map(lambda p, g: p - inner_lr * g, params, grads)
    return params


def task_loss(params, support, query, inner_lr, inner_steps):
    return mse(adapt(params, support, inner_lr, inner_steps), query)


class MetaLearner:
    def __init__(self, key, meta_lr=1e-3, inner_lr=0.002, inner_steps=1):
        self.params = init_mlp(key, [1, 40, 40, 1])
        self.inner_lr = inner_lr
        self.inner_steps = inner_steps
        self.optimizer = optax.adam(meta_lr)
        self.opt_state = self.optimizer.init(self.params)

    def meta_step(self, tasks):
        total_loss = 0.0
        total_grads = jax.tree.map(jnp.zeros_like, self.params)
        for support, query in tasks:
            loss, grads = jax.value_and_grad(task_loss)(
                self.params, support, query, self.inner_lr, self.inner_steps)
            total_loss += float(loss)
            total_grads = jax.tree.map(jnp.add, total_grads, grads)
        grads = jax.tree.map(lambda g: g / len(tasks), total_grads)
        updates, self.opt_state = self.optimizer.update(grads, self.opt_state)
        self.params = optax.apply_updates(self.params, updates)
        return total_loss / len(tasks)


def main(iterations=16, tasks_per_batch=3):
    tasks = SineTasks(seed=0)
    learner = MetaLearner(jax.random.PRNGKey(1))
    curve = []
    for it in range(1, iterations + 1):
        curve.append(learner.meta_step([tasks.sample() for _ in range(tasks_per_batch)]))
        if it % 4 == 0:
            print(f"iteration {it} post-adaptation loss {np.mean(curve[-4:]):.2f}")

    held_out = SineTasks(seed=123)
    before, after = [], []
    for _ in range(6):
        support, query = held_out.sample()
        before.append(float(mse(learner.params, query)))
        adapted = adapt(learner.params, support, learner.inner_lr, 5)
        after.append(float(mse(adapted, query)))
    print(f"held out: before {np.mean(before):.2f} after {np.mean(after):.2f}")


if __name__ == "__main__":
    main()
