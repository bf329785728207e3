# source: openvdb/fvdb-reality-capture#144

import jax
import jax.numpy as jnp


@jax.jit  # finding-other
def train_step(w, x, y):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * grad, loss


def train(w, loader, log_every=100):
    for i, (x, y) in enumerate(loader):
        w, loss = train_step(w, x, y)
        if i % log_every == 0:
            print(f"step {i} loss {float(loss):.4f}")
    return w


if __name__ == "__main__":
    print(train(jnp.zeros(3), [(jnp.ones((4, 3)), jnp.ones(4))] * 10))
