# function: update
# arguments: learner=Learner, w=array, x=array, y=array
# refused: `self.steps`

"""A learner that counts its steps and warms its rate up by the count."""

import jax
import jax.numpy as jnp


class Learner:
    def __init__(self, rate):
        self.rate = rate
        self.steps = 0

    def current(self):
        self.steps += 1
        return self.rate * min(1.0, self.steps / 20)


def update(learner, w, x, y):
    gradient = jax.grad(lambda v: jnp.mean((x @ v - y) ** 2))(w)
    return w - learner.current() * gradient


def main():
    x = jax.random.normal(jax.random.key(0), (64, 4))
    y = x @ jnp.arange(4.0)
    learner = Learner(0.2)
    w = jnp.zeros(4)
    for _ in range(60):
        w = update(learner, w, x, y)
    print("w", w, "steps", learner.steps)


if __name__ == "__main__":
    main()
