# blind: twentieth

"""Gaussian bijector with a custom pytree class, fitted by maximum likelihood."""
from functools import partial

import jax
import jax.numpy as jnp
import optax


@jax.tree_util.register_pytree_node_class
class Affine:
    """y = loc + tril(scale) x."""

    def __init__(self, loc, scale, name="affine"):
        self.loc = loc
        self.scale = scale
        self.name = name

    def factor(self):
        diagonal = jnp.diag(jax.nn.softplus(jnp.diag(self.scale)))
        return jnp.tril(self.scale, -1) + diagonal

    def forward(self, x):
        return self.loc + x @ self.factor().T

    def inverse(self, y):
        chol = self.factor()
        x = jax.scipy.linalg.solve_triangular(chol, (y - self.loc).T, lower=True).T
        return x, -jnp.sum(jnp.log(jnp.diag(chol)))

    def tree_flatten(self):
        return (self.scale, self.loc), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        scale, loc = children
        return cls(loc, scale, name)


def log_prob(flow, y):
    x, logdet = flow.inverse(y)
    base = -0.5 * jnp.sum(x**2, axis=-1) - 0.5 * y.shape[-1] * jnp.log(2.0 * jnp.pi)
    return base + logdet


def loss_fn(flow, y):
    return -log_prob(flow, y).mean()


def train(flow, data, steps=300, lr=3e-2):
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


def main():
    k_data, k_sample = jax.random.split(jax.random.key(0))
    mix = jnp.array([[1.0, 0.0], [0.8, 0.5]])
    data = 3.0 + jax.random.normal(k_data, (2000, 2)) @ mix.T
    flow, loss = train(Affine(jnp.zeros(2), jnp.eye(2)), data)
    draws = flow.forward(jax.random.normal(k_sample, (2000, 2)))
    print("nll", float(loss), "mean", draws.mean(axis=0), "std", draws.std(axis=0))


if __name__ == "__main__":
    main()
