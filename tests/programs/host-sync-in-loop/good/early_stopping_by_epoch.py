# blind: ninth

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass
class EarlyStopping:
    patience: int = 10
    best: float = float("inf")
    bad: int = 0

    def update(self, loss):
        if loss < self.best - 1e-4:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


@jax.jit  # finding-other
def epoch(params, xs, ys):
    def one(p, batch):
        x, y = batch
        loss, grad = jax.value_and_grad(lambda p: jnp.mean((x @ p - y) ** 2))(p)
        return p - 1e-2 * grad, loss

    params, losses = jax.lax.scan(one, params, (xs, ys))
    return params, losses.mean()


def fit(params, xs, ys, epochs=20):
    stopper = EarlyStopping()
    for _ in range(epochs):
        params, loss = epoch(params, xs, ys)
        if stopper.update(float(loss)):  # finding-other
            break
    return params


if __name__ == "__main__":
    print(fit(jnp.ones(4), jnp.ones((100, 16, 4)), jnp.zeros((100, 16))))
