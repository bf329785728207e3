# source: jax-ml/jax#1733
# blind: eighteenth

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.relu(nn.Dense(128)(x)))


@functools.partial(jax.jit, donate_argnames="state")
def train_step(state, batch):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch["x"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def eval_step(state, batch):
    logits = state.apply_fn({"params": state.params}, batch["x"])
    return jnp.mean(logits.argmax(-1) == batch["y"])


def main():
    x = jax.random.normal(jax.random.key(0), (32, 6))
    batch = {"x": x, "y": x[:, :3].argmax(-1)}
    model = Model()
    params = model.init(jax.random.key(1), x)["params"]
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-2))
    for _ in range(10):
        state, loss = train_step(state, batch)
    print(loss, eval_step(state, batch), eval_step(state, batch))


if __name__ == "__main__":
    main()
