# source: google/flax#2452
# blind: second

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(64)(x))
        x = nn.Dropout(0.5, deterministic=not train)(x)
        return nn.Dense(1)(x)[..., 0]


class KeyedState(TrainState):
    dropout_key: jax.Array


def create(key, dropout_key):
    model = Net()
    params = model.init({"params": key}, jnp.ones((1, 8)), train=False)["params"]
    return KeyedState.create(
        apply_fn=model.apply, params=params, tx=optax.adam(1e-3), dropout_key=dropout_key
    )


@jax.jit  # finding-other
def train_step(state, x, y):
    rngs = {"dropout": jax.random.fold_in(state.dropout_key, state.step)}

    def loss_fn(params):
        pred = state.apply_fn({"params": params}, x, train=True, rngs=rngs)
        return jnp.mean((pred - y) ** 2)

    grads = jax.grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads)


def fit(seed, batches):
    state = create(*jax.random.split(jax.random.key(seed)))
    for x, y in batches:
        state = train_step(state, x, y)
    return state


if __name__ == "__main__":
    xs = jax.random.normal(jax.random.key(9), (5, 16, 8))
    print(fit(0, [(x, x.sum(-1)) for x in xs]).step)
