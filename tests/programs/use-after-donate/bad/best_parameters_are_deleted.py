# source: talmolab/track-mjx#192
# blind: ninth

import functools

import jax
import jax.numpy as jnp


class Fit:
    def __init__(self, lr=0.1):
        self.lr = lr
        self.best_loss, self.best_params = float("inf"), None

    @functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
    def step(self, params, x, y):
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] - y) ** 2))(params)
        return jax.tree.map(lambda p, g: p - self.lr * g, params, grads), loss

    def remember(self, params, loss):
        if loss < self.best_loss:
            self.best_loss, self.best_params = loss, params

    def run(self, params, x, y, n):
        for i in range(n):
            params, loss = self.step(params, x, y)  # finding-other
            if i % 5 == 0:
                self.remember(params, float(loss))
        return self.best_params  # finding-also


def main():
    x, y = jnp.ones((16, 4)), jnp.zeros(16)
    best = Fit().run({"w": jnp.ones(4)}, x, y, 20)
    return x @ best["w"]  # finding


if __name__ == "__main__":
    print(main())
