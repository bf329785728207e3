# source: jax-ml/jax#17070
# blind: second

import haiku as hk
import jax
import jax.numpy as jnp
import optax
from jax.scipy.special import entr


def entropy(p, axis=-1):
    return jnp.sum(entr(jnp.maximum(p, 1e-12)), axis=axis)


class SparseGate(hk.Module):
    def __init__(self, experts, name=None):
        super().__init__(name=name)
        self.experts = experts

    def __call__(self, x):
        raw = jax.nn.relu(hk.Linear(self.experts)(x))
        return raw / (jnp.sum(raw, axis=-1, keepdims=True) + 1e-6)


def network(x):
    gate = SparseGate(4)(x)
    outs = jnp.stack([hk.Linear(1, name=f"expert{i}")(x)[:, 0] for i in range(4)], axis=-1)
    return jnp.sum(gate * outs, axis=-1), gate


model = hk.without_apply_rng(hk.transform(network))
tx = optax.adam(1e-2)


def loss_fn(params, x, y):
    pred, gate = model.apply(params, x)
    return jnp.mean((pred - y) ** 2) + 0.01 * jnp.mean(entropy(gate))


@jax.jit
def update(params, state, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    updates, state = tx.update(grads, state)
    return optax.apply_updates(params, updates), state


if __name__ == "__main__":
    kx, kp = jax.random.split(jax.random.key(0))
    x = jax.random.normal(kx, (32, 6))
    params = model.init(kp, x)
    params, _ = update(params, tx.init(params), x, x[:, 0])
    assert not any(bool(jnp.isnan(leaf).any()) for leaf in jax.tree.leaves(params))
