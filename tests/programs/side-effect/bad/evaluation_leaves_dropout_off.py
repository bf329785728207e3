# blind: fourteenth

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class DropNet(nnx.Module):
    def __init__(self, d_in, width, n_classes, rngs):
        self.fc1 = nnx.Linear(d_in, width, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.fc2 = nnx.Linear(width, n_classes, rngs=rngs)

    def __call__(self, x):
        return self.fc2(self.drop(nnx.relu(self.fc1(x))))


def loss_fn(model, x, y):
    logits = model(x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


@nnx.jit(donate_argnums=(0, 1))
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def accuracy(model, x, y):
    return jnp.mean(model(x).argmax(axis=-1) == y)


def train_epoch(model, optimizer, key, data, batch_size=16):
    x, y = data
    perm = jax.random.permutation(key, len(x)).reshape(-1, batch_size)
    losses = [train_step(model, optimizer, x[idx], y[idx]) for idx in np.asarray(perm)]
    return jnp.stack(losses).mean()


def evaluate(model, data):
    model.eval()  # finding
    return accuracy(model, *data)


def main():
    model = DropNet(6, 32, 3, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    x = jax.random.normal(jax.random.key(0), (64, 6))
    data = (x, x[:, :3].argmax(axis=-1))
    key = jax.random.key(1)
    for epoch in range(3):
        key, sub = jax.random.split(key)
        loss = train_epoch(model, optimizer, sub, data)
        print(f"epoch {epoch} loss {loss:.2f} acc {evaluate(model, data):.2f}")
    print("deterministic after training:", model.drop.deterministic)


if __name__ == "__main__":
    main()
