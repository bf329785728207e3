# source: juliuskunze/jaxnet#7
# blind: second

import dataclasses
import math

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class EarlyStopping:
    patience: int = 20
    best: float = math.inf
    waited: int = 0

    def update(self, value):
        if value < self.best:  # finding-also
            self.best = value
            self.waited = 0
        else:
            self.waited += 1
        return self.waited > self.patience


@jax.jit
def step(w, x, y):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean(jnp.abs(x @ w - y)))(w)
    return w - 0.01 * grad, loss


def train(w, xs, ys, stopping):
    for x, y in zip(xs, ys, strict=True):
        w, loss = step(w, x, y)
        if stopping.update(loss.item()):  # finding
            break
    return w


def main():
    xs = jax.random.normal(jax.random.key(0), (50, 16, 5))
    w = train(jnp.zeros(5), xs, xs @ jnp.arange(5.0), EarlyStopping())
    print(w)


if __name__ == "__main__":
    main()
