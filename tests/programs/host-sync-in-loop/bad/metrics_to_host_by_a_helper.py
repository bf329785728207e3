# blind: ninth

import jax
import jax.numpy as jnp
from flax import nnx
import optax


class Policy(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(6, 32, rngs=rngs)
        self.head = nnx.Linear(32, 2, rngs=rngs)

    def __call__(self, obs):
        return self.head(nnx.tanh(self.hidden(obs)))


def loss_fn(policy, obs, action):
    error = policy(obs) - action
    return jnp.mean(error**2), {"mse": jnp.mean(error**2), "max": jnp.abs(error).max()}


@nnx.jit(donate_argnums=(0, 1))
def update(policy, optimizer, obs, action):
    (_, metrics), grads = nnx.value_and_grad(loss_fn, has_aux=True)(policy, obs, action)
    optimizer.update(policy, grads)
    return metrics


def to_host(metrics):
    return {name: float(value) for name, value in metrics.items()}  # finding-also


def clone(policy, data):
    optimizer = nnx.Optimizer(policy, optax.adamw(3e-4), wrt=nnx.Param)
    history = []
    for obs, action in data:
        metrics = update(policy, optimizer, obs, action)
        history.append(to_host(metrics))  # finding
    return history


if __name__ == "__main__":
    data = [(jnp.ones((8, 6)), jnp.zeros((8, 2))) for _ in range(20)]
    print(clone(Policy(nnx.Rngs(0)), data)[-1])
