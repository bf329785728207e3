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
    def step(params, _):
        grads = jax.grad(mse)(params, support)
        return jax.tree.map(lambda p, g: p - inner_lr * g, params, grads), None

    return jax.lax.scan(step, params, length=inner_steps)[0]


def task_loss(params, support, query, inner_lr, inner_steps):
    return mse(adapt(params, support, inner_lr, inner_steps), query)


class MetaLearner:
    def __init__(self, key, meta_lr=1e-3, inner_lr=0.002, inner_steps=1):
        self.inner_lr = inner_lr
        self.inner_steps = inner_steps
        self.optimizer = optax.adam(meta_lr)
        self.params, self.opt_state = jax.jit(self._init)(key)
        self._step = jax.jit(self._meta_step, donate_argnums=(0, 1))
        self.evaluate = jax.jit(jax.vmap(self._evaluate, in_axes=(None, 0, 0)))

    def _init(self, key):
        params = init_mlp(key, [1, 40, 40, 1])
        return params, self.optimizer.init(params)

    def _meta_step(self, params, opt_state, support, query):
        def batch_loss(params):
            losses = jax.vmap(lambda s, q: task_loss(
                params, s, q, self.inner_lr, self.inner_steps))(support, query)
            return losses.mean()

        loss, grads = jax.value_and_grad(batch_loss)(params)
        updates, opt_state = self.optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    def meta_step(self, tasks):
        support, query = stack_tasks(tasks)
        self.params, self.opt_state, loss = self._step(
            self.params, self.opt_state, support, query)
        return loss

    def _evaluate(self, params, support, query):
        adapted = adapt(params, support, self.inner_lr, 5)
        return mse(params, query), mse(adapted, query)


def stack_tasks(tasks):
    return jax.tree.map(lambda *xs: np.stack(xs).astype(np.float32), *tasks)


def main(iterations=16, tasks_per_batch=3):
    tasks = SineTasks(seed=0)
    learner = MetaLearner(jax.random.PRNGKey(1))
    curve = []
    for it in range(1, iterations + 1):
        curve.append(learner.meta_step([tasks.sample() for _ in range(tasks_per_batch)]))
        if it % 4 == 0:
            print(f"iteration {it} post-adaptation loss {np.mean(jax.device_get(curve[-4:])):.2f}")

    held_out = SineTasks(seed=123)
    support, query = stack_tasks([held_out.sample() for _ in range(6)])
    before, after = jax.device_get(learner.evaluate(learner.params, support, query))
    print(f"held out: before {np.mean(before):.2f} after {np.mean(after):.2f}")


if __name__ == "__main__":
    main()
