# source: google/flax#1047

import jax
import jax.numpy as jnp


class AverageMeter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += float(value) * n  # finding
        self.count += n

    @property
    def mean(self):
        return self.total / self.count


@jax.jit
def train_step(params, x, y):
    def loss_fn(p):
        return jnp.mean((x @ p - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return params - 0.1 * grads, loss


def train_epoch(params, loader):
    meter = AverageMeter()
    for x, y in loader:
        params, loss = train_step(params, x, y)
        meter.update(loss, len(y))  # finding-also
    return params, meter.mean


if __name__ == "__main__":
    print(train_epoch(jnp.zeros(3), [(jnp.ones((4, 3)), jnp.ones(4))] * 5))
