# source: jax-ml/jax#9237
# blind: second

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state

MODEL = nn.Sequential([nn.Dense(16), nn.relu, nn.Dense(3)])


def create_state(key):
    params = MODEL.init(key, jnp.ones((1, 4)))
    return train_state.TrainState.create(apply_fn=MODEL.apply, params=params, tx=optax.sgd(0.1))


def train_step(state, x, y):
    def loss_fn(params):
        logits = state.apply_fn(params, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


p_train_step = jax.jit(train_step, donate_argnums=(0,))


@jax.jit
def accuracy(params, x, y):
    return jnp.mean(MODEL.apply(params, x).argmax(-1) == y)


def train_epoch(state, batches):
    new_state = state
    for x, y in batches:
        new_state, _ = p_train_step(new_state, x, y)
    return new_state


def main():
    xs = jax.random.normal(jax.random.key(0), (3, 8, 4))
    batches = [(x, x.argmax(-1) % 3) for x in xs]
    state = create_state(jax.random.key(1))
    trained = train_epoch(state, batches)
    before = accuracy(state.params, *batches[0])  # finding
    print(before, accuracy(trained.params, *batches[0]))


if __name__ == "__main__":
    main()
