# blind: eleventh

"""The moving average follows the parameters before the update."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class EmaState(train_state.TrainState):
    ema_params: dict


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.tanh(nn.Dense(64)(x)))[..., 0]


def create(key, lr=1e-3):
    model = Net()
    params = model.init(key, jnp.ones((1, 4)))["params"]
    return EmaState.create(apply_fn=model.apply, params=params, tx=optax.adam(lr), ema_params=params)


def train_step(state, batch):
    def loss_fn(params):
        pred = state.apply_fn({"params": params}, batch["x"])
        return jnp.mean((pred - batch["y"]) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    new_state = state.apply_gradients(grads=grads)  # finding
    ema = optax.incremental_update(new_state.params, state.ema_params, 0.01)
    state = state.replace(ema_params=ema)
    return state, loss


step = jax.jit(train_step)  # finding-other

if __name__ == "__main__":
    state = create(jax.random.key(0))
    batch = {"x": jnp.ones((8, 4)), "y": jnp.ones(8)}
    for _ in range(3):
        state, loss = step(state, batch)
    print(loss)
