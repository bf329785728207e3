# source: jax-ml/jax#3086

import collections

import jax
import jax.numpy as jnp

CALLS = collections.Counter()


class Trainer:
    def __init__(self, rate):
        self.rate = rate
        self.history = {"loss": [], "norm": []}
        self.step = jax.jit(self._step)

    def _loss(self, w, x, y):
        return jnp.mean((x @ w - y) ** 2)

    def _step(self, w, x, y):
        CALLS["step"] += 1  # finding
        loss, grads = jax.value_and_grad(self._loss)(w, x, y)
        self.history["loss"].append(loss)  # finding
        self.history["norm"].append(jnp.linalg.norm(grads))  # finding
        return w - self.rate * grads


def main():
    trainer = Trainer(0.1)
    w = jnp.zeros(3)
    for _ in range(5):
        w = trainer.step(w, jnp.ones((4, 3)), jnp.ones(4))
    print(w, CALLS["step"], len(trainer.history["loss"]))


main()
