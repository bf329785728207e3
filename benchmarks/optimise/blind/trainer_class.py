import jax
import jax.numpy as jnp
import numpy as np
import optax


class Trainer:
    def __init__(self, dim, lr):
        self.params = {"w": jnp.zeros((dim, 1)), "b": jnp.zeros(1)}
        self.optimizer = optax.adam(lr)
        self.opt_state = self.optimizer.init(self.params)
        self.grad_fn = jax.jit(jax.value_and_grad(self.loss))
        self.history = []

    @staticmethod
    def loss(params, x, y):
        return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)

    def fit(self, data, epochs):
        for epoch in range(epochs):
            for x, y in data:
                loss, grads = self.grad_fn(self.params, x, y)
                updates, self.opt_state = self.optimizer.update(grads, self.opt_state, self.params)
                self.params = optax.apply_updates(self.params, updates)
                self.history.append(float(loss))
            print(epoch, self.history[-1])


def main():
    rng = np.random.default_rng(0)
    data = [(rng.normal(size=(32, 5)).astype(np.float32), rng.normal(size=(32, 1)).astype(np.float32)) for _ in range(20)]
    trainer = Trainer(5, 1e-2)
    trainer.fit(data, 10)


if __name__ == "__main__":
    main()
