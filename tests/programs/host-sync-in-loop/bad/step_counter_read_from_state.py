# source: AI-Hypercomputer/maxtext#1956
# blind: fourth

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(self.width)(x)))[..., 0]


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({"params": params}, batch["x"]) - batch["y"]) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def create_state(seed):
    model = Net(32)
    params = model.init(jax.random.key(seed), jnp.zeros((1, 8)))["params"]
    return TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))


def train(batches, log_every=50):
    state = create_state(0)
    losses = []
    for batch in batches:
        state, loss = train_step(state, batch)
        if int(state.step) % log_every == 0:  # finding
            losses.append(float(loss))
    return state, losses


if __name__ == "__main__":
    data = [{"x": jnp.ones((4, 8)) * i, "y": jnp.ones(4)} for i in range(100)]
    print(train(data)[1])
