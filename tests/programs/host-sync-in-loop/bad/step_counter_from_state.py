# source: google/flax#1434

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.gelu(nn.Dense(8)(x)))


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((state.apply_fn(params, x)[:, 0] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def fit(state, loader, save_every=10):
    saved = []
    for x, y in loader:
        state, loss = train_step(state, x, y)
        if state.step % save_every == 0:  # finding
            saved.append(state.params)
    return state, saved


if __name__ == "__main__":
    model = MLP()
    params = model.init(jax.random.key(0), jnp.ones((1, 3)))
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(1e-2))
    print(len(fit(state, [(jnp.ones((4, 3)), jnp.ones(4))] * 20)[1]))
