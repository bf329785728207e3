# source: jax-ml/jax#12792
# blind: ninth

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class Tower(nn.Module):
    depth: int = 8
    width: int = 128

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = x + nn.gelu(nn.Dense(self.width)(x))
        return nn.Dense(1)(x)


def loss_of(params, apply_fn, batch):
    return jnp.mean((apply_fn({"params": params}, batch["x"])[:, 0] - batch["y"]) ** 2)


@jax.jit  # finding-other
def train_step(state, batch):
    low_memory_loss = jax.checkpoint(loss_of, static_argnums=1)  # finding
    grads = jax.grad(low_memory_loss)(state.params, state.apply_fn, batch)  # finding-also
    return state.apply_gradients(grads=grads)


def main():
    model, batch = Tower(), {"x": jnp.ones((64, 128)), "y": jnp.zeros(64)}
    params = model.init(jax.random.key(0), batch["x"])["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(1e-3))
    for _ in range(3):
        state = train_step(state, batch)
    return state.step


if __name__ == "__main__":
    print(main())
