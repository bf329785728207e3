# source: google/flax#5060
# blind: eighteenth

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class GRUClassifier(nnx.Module):
    def __init__(self, d_in, d_hidden, n_out, *, rngs):
        self.cell = nnx.GRUCell(d_in, d_hidden, rngs=rngs)
        self.rnn = nnx.RNN(self.cell)
        self.head = nnx.Linear(d_hidden, n_out, rngs=rngs)

    def __call__(self, x):
        return self.head(self.rnn(x)[:, -1])


def loss_fn(model, x, y):
    logits = model(x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), logits


@nnx.jit  # finding-other
def train_step(model, optimizer, metrics, x, y):
    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, x, y)
    metrics.update(loss=loss, logits=logits, labels=y)
    optimizer.update(model, grads)


def main(steps=4):
    model = GRUClassifier(3, 8, 2, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(1e-2), wrt=nnx.Param)
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
    x = jax.random.normal(jax.random.key(0), (16, 5, 3))
    y = (x[:, :, 0].sum(1) > 0).astype(jnp.int32)
    for _ in range(steps):
        train_step(model, optimizer, metrics, x, y)
    print(metrics.compute())


if __name__ == "__main__":
    main()
