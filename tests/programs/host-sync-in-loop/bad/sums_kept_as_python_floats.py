# source: tillahoffmann/jax-mps#180
# blind: second

import collections

import jax
import jax.numpy as jnp
from flax import nnx


class Cnn(nnx.Module):
    def __init__(self, *, rngs):
        self.conv = nnx.Conv(1, 8, (3, 3), rngs=rngs)
        self.head = nnx.Linear(8, 10, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.relu(self.conv(x)).mean(axis=(1, 2)))


@nnx.jit
def eval_step(model, x, y):
    logits = model(x)
    logp = jax.nn.log_softmax(logits)
    nll = -jnp.take_along_axis(logp, y[:, None], axis=1).mean()
    return {"nll": nll, "correct": (logits.argmax(-1) == y).sum()}


def accumulate(totals, metrics):
    for name, value in metrics.items():
        totals[name] += float(value)  # finding


def evaluate(model, batches):
    totals = collections.defaultdict(float)
    for x, y in batches:
        accumulate(totals, eval_step(model, x, y))  # finding-also
    return dict(totals)


if __name__ == "__main__":
    model = Cnn(rngs=nnx.Rngs(0))
    images = jax.random.normal(jax.random.key(0), (4, 8, 12, 12, 1))
    labels = jax.random.randint(jax.random.key(1), (4, 8), 0, 10)
    print(evaluate(model, zip(images, labels, strict=True)))
