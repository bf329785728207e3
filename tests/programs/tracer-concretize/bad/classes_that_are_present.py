# blind: seventeenth

"""Balanced accuracy computed inside of the jitted evaluation step."""
import jax
import jax.numpy as jnp
from flax import nnx


class Classifier(nnx.Module):
    def __init__(self, din, classes, rngs):
        self.hidden = nnx.Linear(din, 64, rngs=rngs)
        self.head = nnx.Linear(64, classes, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.relu(self.hidden(x)))


def balanced_accuracy(pred, labels):
    present = jnp.unique(labels)  # finding
    recalls = []
    for c in present:
        mask = labels == c
        recalls.append(jnp.sum((pred == c) & mask) / jnp.sum(mask))
    return jnp.mean(jnp.stack(recalls))


@nnx.jit
def evaluate(model, x, labels):
    pred = jnp.argmax(model(x), axis=-1)
    return balanced_accuracy(pred, labels)


def main():
    model = Classifier(12, 4, nnx.Rngs(0))
    model.eval()
    key = jax.random.key(0)
    kx, ky = jax.random.split(key)
    x = jax.random.normal(kx, (100, 12))
    labels = jax.random.randint(ky, (100,), 0, 4)
    print("balanced accuracy", evaluate(model, x, labels))


if __name__ == "__main__":
    main()
