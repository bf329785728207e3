# blind: nineteenth

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Classifier(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.hidden = nnx.Linear(2, 32, rngs=rngs)
        self.head = nnx.Linear(32, 2, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.tanh(self.hidden(x)))


def loss_fn(model, x, labels):
    return optax.softmax_cross_entropy_with_integer_labels(model(x), labels).mean()


@jax.jit  # finding-other
def train_step(graphdef, state, x, labels):
    model, optimizer = nnx.merge(graphdef, state)
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, labels)
    optimizer.update(model, grads)
    return nnx.state((model, optimizer)), loss


def rings(key, n):
    k_l, k_a, k_n = jax.random.split(key, 3)
    labels = jax.random.randint(k_l, (n,), 0, 2)
    angle = jax.random.uniform(k_a, (n,), maxval=2.0 * jnp.pi)
    radius = 1.0 + labels + 0.1 * jax.random.normal(k_n, (n,))
    return jnp.stack([radius * jnp.cos(angle), radius * jnp.sin(angle)], axis=-1), labels


def main():
    model = Classifier(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    graphdef, state = nnx.split((model, optimizer))
    key = jax.random.key(1)
    for _ in range(200):
        key, sub = jax.random.split(key)
        state, loss = train_step(graphdef, state, *rings(sub, 128))
    nnx.update((model, optimizer), state)
    x, labels = rings(jax.random.key(9), 512)
    print("loss", float(loss), "accuracy", float(jnp.mean(model(x).argmax(-1) == labels)))


if __name__ == "__main__":
    main()
