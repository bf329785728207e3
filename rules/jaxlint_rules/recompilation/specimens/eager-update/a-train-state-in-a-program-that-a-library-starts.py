# a train state whose gradients are applied outside jit, in a program that a library starts

import flax.linen as nn
import hydra
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(64)(x)))


def loss_fn(params, state, batch):
    return jnp.mean((state.apply_fn(params, batch) - 1.0) ** 2)


def train_step(state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(state.params, state, batch)
    state = state.apply_gradients(grads=grads)  # finding
    return state, {"loss": loss.item()}


@jax.jit
def compiled_step(state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(state.params, state, batch)
    return state.apply_gradients(grads=grads), loss


def create():
    net = Net()
    params = net.init(jax.random.key(0), jnp.ones((1, 3)))
    return train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(1e-3))


@hydra.main(version_base="1.1", config_path="configs", config_name="small")
def main(cfg):
    state = other = create()
    for batch in cfg.loader:
        state, metrics = train_step(state, batch)
        print(metrics)
    for batch in cfg.loader:
        other, loss = compiled_step(other, batch)
    warm = create()
    for batch in (jnp.ones((2, 3)), jnp.zeros((2, 3))):
        warm = warm.apply_gradients(grads=jax.grad(loss_fn)(warm.params, warm, batch))


if __name__ == "__main__":
    main()
