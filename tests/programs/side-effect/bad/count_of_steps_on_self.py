# blind: seventeenth

"""A trainer with its own learning-rate decay."""
from functools import partial

import jax
import jax.numpy as jnp


class Trainer:
    def __init__(self, dim, base_lr=0.5, decay=0.05):
        self.base_lr = base_lr
        self.decay = decay
        self.steps_done = 0
        self.params = {"w": jnp.zeros(dim), "b": jnp.zeros(())}

    def loss(self, params, x, y):
        logits = x @ params["w"] + params["b"]
        return jnp.mean(jnp.logaddexp(0.0, -y * logits))

    @partial(jax.jit, static_argnums=0)
    def step(self, params, x, y):
        self.steps_done += 1  # finding
        lr = self.base_lr / (1.0 + self.decay * self.steps_done)  # finding-also
        value, grads = jax.value_and_grad(self.loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads), value

    def fit(self, x, y, steps):
        for _ in range(steps):
            self.params, value = self.step(self.params, x, y)
        return value


def main():
    kx, kw = jax.random.split(jax.random.key(0))
    x = jax.random.normal(kx, (200, 5))
    y = jnp.sign(x @ jax.random.normal(kw, (5,)))
    trainer = Trainer(5)
    print("loss", trainer.fit(x, y, 100), "steps", trainer.steps_done)


if __name__ == "__main__":
    main()
