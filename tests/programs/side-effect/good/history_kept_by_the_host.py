# source: jax-ml/jax#3086

import collections

import jax
import jax.numpy as jnp

CALLS = collections.Counter()


class Trainer:
    def __init__(self, rate):
        self.rate = rate
        self.history = {"loss": [], "norm": []}

    @staticmethod
    @jax.jit
    def update(w, x, y, rate):
        metrics = {"loss": [], "norm": []}
        calls = collections.Counter()
        loss, grads = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
        metrics["loss"].append(loss)
        metrics["norm"].append(jnp.linalg.norm(grads))
        calls["terms"] += 2
        return rate * grads / calls["terms"], {name: jnp.stack(values) for name, values in metrics.items()}

    def step(self, w, x, y):
        CALLS["step"] += 1
        change, metrics = self.update(w, x, y, self.rate)
        for name, values in metrics.items():
            self.history[name].append(values)
        return w - change


def main():
    trainer = Trainer(0.1)
    w = jnp.zeros(3)
    for _ in range(5):
        w = trainer.step(w, jnp.ones((4, 3)), jnp.ones(4))
    print(w, CALLS["step"], len(trainer.history["loss"]))


main()
