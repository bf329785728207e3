# source: jax-ml/jax#1733
# blind: second

import jax
import jax.numpy as jnp
import optax
from flax import struct


@struct.dataclass
class State:
    step: jax.Array
    params: dict
    opt_state: optax.OptState


class Experiment:
    def __init__(self, width, rate):
        self.width = width
        self.tx = optax.adamw(rate)
        self.update = jax.jit(self._update, donate_argnums=0)

    def init(self, key):
        params = {"w": jax.random.normal(key, (self.width, self.width))}
        return State(jnp.zeros((), jnp.int32), params, self.tx.init(params))

    def loss(self, params, x):
        return jnp.mean((x @ params["w"] - x) ** 2)

    def _update(self, state, x):
        loss, grads = jax.value_and_grad(self.loss)(state.params, x)
        updates, opt_state = self.tx.update(grads, state.opt_state, state.params)
        params = optax.apply_updates(state.params, updates)
        return State(state.step + 1, params, opt_state), loss

    def run(self, key, steps):
        key, init_key = jax.random.split(key)
        state = self.init(init_key)
        losses = []
        for k in jax.random.split(key, steps):
            state, loss = self.update(state, jax.random.normal(k, (8, self.width)))
            losses.append(loss)
        return state, jnp.stack(losses)


if __name__ == "__main__":
    state, losses = Experiment(64, 1e-3).run(jax.random.key(0), 4)
    print(int(state.step), losses.shape)
