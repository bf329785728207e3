# source: google/flax#3997
# blind: second

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Classifier(nnx.Module):
    def __init__(self, features, classes, *, rngs):
        self.hidden = nnx.Linear(features, 32, rngs=rngs)
        self.out = nnx.Linear(32, classes, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.relu(self.hidden(x)))


class Trainer:
    def __init__(self, model, rate):
        self.model = model
        self.optimizer = nnx.Optimizer(model, optax.adam(rate), wrt=nnx.Param)

    def loss(self, model, x, y):
        logits = model(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    def train_step(self, x, y):
        @nnx.jit  # finding
        def step(model, optimizer, x, y):  # finding-also
            loss, grads = nnx.value_and_grad(self.loss)(model, x, y)
            optimizer.update(model, grads)
            return loss

        return step(self.model, self.optimizer, x, y)  # finding-also

    def fit(self, xs, ys):
        losses = []
        for x, y in zip(xs, ys, strict=True):
            losses.append(self.train_step(x, y))  # finding-also
        return jnp.stack(losses)


if __name__ == "__main__":
    kx, ky = jax.random.split(jax.random.key(0))
    xs = jax.random.normal(kx, (10, 16, 8))
    ys = jax.random.randint(ky, (10, 16), 0, 3)
    trainer = Trainer(Classifier(8, 3, rngs=nnx.Rngs(0)), 1e-3)
    print(trainer.fit(xs, ys).shape)
