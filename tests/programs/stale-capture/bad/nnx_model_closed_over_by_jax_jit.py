# source: google/flax#4333
# blind: eighteenth

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Regressor(nnx.Module):
    def __init__(self, d_in, rngs):
        self.l1 = nnx.Linear(d_in, 16, rngs=rngs)
        self.l2 = nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, x):
        return self.l2(nnx.tanh(self.l1(x)))[:, 0]


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(m):
        return jnp.mean((m(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


class Trainer:
    def __init__(self, d_in, seed=0):
        self.model = Regressor(d_in, nnx.Rngs(seed))
        self.optimizer = nnx.Optimizer(self.model, optax.adam(1e-2), wrt=nnx.Param)
        model = self.model
        self.predict = jax.jit(lambda x: model(x))  # finding

    def fit(self, x, y, epochs):
        for _ in range(epochs):
            train_step(self.model, self.optimizer, x, y)
            val = jnp.mean((self.predict(x) - y) ** 2)  # finding-also
        return val


if __name__ == "__main__":
    xs = jax.random.normal(jax.random.key(1), (64, 3))
    trainer = Trainer(3)
    print("jitted predict", trainer.fit(xs, xs.sum(1), 50))
    print("model itself  ", jnp.mean((trainer.model(xs) - xs.sum(1)) ** 2))
