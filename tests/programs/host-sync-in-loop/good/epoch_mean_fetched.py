# source: google/flax#1047

import jax
import jax.numpy as jnp


class Mean:
    def __init__(self):
        self.values = []

    def update(self, value):
        self.values.append(value)

    def result(self):
        return float(jnp.mean(jnp.stack(self.values)))


@jax.jit  # finding-other
def train_step(w, x):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - 1.0) ** 2))(w)
    return w - 0.1 * grad, loss


def train(w, loader, epochs):
    for epoch in range(epochs):
        meter = Mean()
        for x in loader:
            w, loss = train_step(w, x)
            meter.update(loss)
        print(epoch, meter.result())
    return w


if __name__ == "__main__":
    train(jnp.zeros(3), [jnp.ones((4, 3))] * 5, 2)
