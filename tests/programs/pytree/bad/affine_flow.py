# blind: twentieth

"""Stack of affine bijectors fitted by maximum likelihood."""
from functools import partial

import jax
import jax.numpy as jnp
import optax


@jax.tree_util.register_pytree_node_class
class Affine:
    """y = loc + exp(log_scale) * x."""

    def __init__(self, loc, log_scale):  # finding-also
        self.loc = loc
        self.log_scale = log_scale

    def forward(self, x):
        return self.loc + jnp.exp(self.log_scale) * x

    def inverse(self, y):
        return (y - self.loc) * jnp.exp(-self.log_scale), -jnp.sum(self.log_scale)

    def tree_flatten(self):
        return (self.log_scale, self.loc), None  # finding

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)  # finding-also


def make_flow(dim, layers):
    return [Affine(jnp.full(dim, 0.1 * i), jnp.zeros(dim)) for i in range(layers)]


def log_prob(flow, y):
    total = 0.0
    for layer in reversed(flow):
        y, logdet = layer.inverse(y)
        total = total + logdet
    base = -0.5 * jnp.sum(y**2, axis=-1) - 0.5 * y.shape[-1] * jnp.log(2.0 * jnp.pi)
    return base + total


def loss_fn(flow, y):
    return -log_prob(flow, y).mean()


def train(flow, data, steps=201, lr=2e-2):
    tx = optax.adam(lr)
    opt_state = tx.init(flow)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(flow, opt_state, y):
        loss, grads = jax.value_and_grad(loss_fn)(flow, y)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(flow, updates), opt_state, loss

    for _ in range(steps):
        flow, opt_state, loss = step(flow, opt_state, data)
    return flow, loss


def sample(flow, key, count, dim):
    x = jax.random.normal(key, (count, dim))
    for layer in flow:
        x = layer.forward(x)
    return x


def main():
    k_data, k_sample = jax.random.split(jax.random.key(0))
    data = 3.0 + 0.5 * jax.random.normal(k_data, (2000, 2))
    flow, loss = train(make_flow(2, 2), data)
    draws = sample(flow, k_sample, 2000, 2)
    print("nll", float(loss), "mean", draws.mean(axis=0), "std", draws.std(axis=0))


if __name__ == "__main__":
    main()
