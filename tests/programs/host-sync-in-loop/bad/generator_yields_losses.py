# source: dmlc/MXNet.jl#222

import jax
import jax.numpy as jnp


@jax.jit
def sgd(w, x, y):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * grad, loss


def train(w, loader):
    """Yield the loss of each step, in the style of a Keras generator."""
    for x, y in loader:
        w, loss = sgd(w, x, y)
        yield loss


def plot_points(w, loader):
    curve = []
    for i, loss in enumerate(train(w, loader)):
        curve.append((i, float(loss)))  # finding
    return curve


if __name__ == "__main__":
    print(plot_points(jnp.zeros(3), [(jnp.ones((4, 3)), jnp.ones(4))] * 6)[-1])
