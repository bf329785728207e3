# source: LucasAlegre/morl-baselines#90
# blind: eighteenth

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class MLP(nnx.Module):
    def __init__(self, d_in, n_out, *, rngs):
        self.l1 = nnx.Linear(d_in, 64, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.bn = nnx.BatchNorm(64, rngs=rngs)
        self.l2 = nnx.Linear(64, n_out, rngs=rngs)

    def __call__(self, x):
        return self.l2(self.drop(nnx.relu(self.bn(self.l1(x)))))


def cross_entropy(model, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(cross_entropy)(model, x, y)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def accuracy(model, x, y):
    return jnp.mean(model(x).argmax(-1) == y)


def main(epochs=3):
    x = jax.random.normal(jax.random.key(0), (96, 6))
    y = (x[:, 0] > 0).astype(jnp.int32)
    model = MLP(6, 2, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    for _ in range(epochs):
        model.train()
        train_step(model, optimizer, x[:64], y[:64])
        val = accuracy(model, x[64:], y[64:])  # finding
    print("validation", val, accuracy(model, x[64:], y[64:]))  # finding-also


if __name__ == "__main__":
    main()
