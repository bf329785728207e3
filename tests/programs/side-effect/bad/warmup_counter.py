# blind: twentieth

"""Trainer with linear learning-rate warm-up and cosine decay."""
import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Schedule:
    peak: float = 0.3
    warmup: int = 50
    total: int = 500

    def __call__(self, step):
        if step < self.warmup:
            return self.peak * step / self.warmup
        done = (step - self.warmup) / (self.total - self.warmup)
        return 0.5 * self.peak * (1.0 + math.cos(math.pi * min(done, 1.0)))


def init_params(key, features, hidden):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (features, hidden)) * features**-0.5,
        "b1": jnp.zeros(hidden),
        "w2": jax.random.normal(k2, (hidden,)) * hidden**-0.5,
    }


def predict(params, x):
    return jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


class Trainer:
    def __init__(self, params, schedule):
        self.params = params
        self.schedule = schedule
        self.updates = 0  # finding-also
        self._step = jax.jit(self._sgd, donate_argnums=0)  # finding-also

    def _sgd(self, params, x, y):
        self.updates += 1  # finding
        lr = self.schedule(self.updates)  # finding-also
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads), loss

    def fit(self, batches):
        losses = []
        for x, y in batches:
            self.params, loss = self._step(self.params, x, y)
            losses.append(loss)
        return jnp.stack(losses)


def make_batches(count, size=64, features=8, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x = rng.standard_normal((size, features)).astype(np.float32)
        yield x, np.sin(x[:, 0]) + 0.5 * x[:, 1]


def main():
    schedule = Schedule()
    trainer = Trainer(init_params(jax.random.key(0), 8, 32), schedule)
    losses = trainer.fit(make_batches(schedule.total))
    print("first", float(losses[0]), "last", float(losses[-20:].mean()))


if __name__ == "__main__":
    main()
