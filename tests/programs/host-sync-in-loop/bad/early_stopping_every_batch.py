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
        if loss < self.best - 1e-4:  # finding
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


@jax.jit
def sgd(params, batch, lr):
    def objective(p):
        return jnp.mean((jnp.tanh(batch["x"] @ p) - batch["y"]) ** 2)

    loss, grad = jax.value_and_grad(objective)(params)
    return params - lr * grad, loss


def fit(params, loader, lr=1e-2):
    stopper = EarlyStopping()
    for batch in loader:
        params, loss = sgd(params, batch, lr)
        if stopper.update(loss):  # finding-also
            break
    return params


if __name__ == "__main__":
    loader = [{"x": jnp.ones((16, 4)), "y": jnp.zeros(16)} for _ in range(40)]
    print(fit(jnp.ones(4), loader))
