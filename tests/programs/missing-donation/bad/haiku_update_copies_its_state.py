# source: keras-team/keras-core#897
# blind: fifth

from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import optax


class TrainingState(NamedTuple):
    params: hk.Params
    opt_state: optax.OptState
    step: jax.Array


def loss_fn(batch):
    logits = hk.nets.MLP([512, 512, 10])(batch["image"])
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"]).mean()


class Updater:
    def __init__(self, optimizer):
        self.net = hk.without_apply_rng(hk.transform(loss_fn))
        self.optimizer = optimizer
        self.update = jax.jit(self._update)  # finding

    def init(self, key, batch):
        params = self.net.init(key, batch)
        return TrainingState(params, self.optimizer.init(params), jnp.int32(0))

    def _update(self, state, batch):
        loss, grads = jax.value_and_grad(self.net.apply)(state.params, batch)
        updates, opt_state = self.optimizer.update(grads, state.opt_state)
        params = optax.apply_updates(state.params, updates)
        return TrainingState(params, opt_state, state.step + 1), loss


def main():
    batch = {"image": jnp.ones((8, 784)), "label": jnp.zeros(8, jnp.int32)}
    updater = Updater(optax.adam(1e-3))
    state = updater.init(jax.random.PRNGKey(0), batch)
    for _ in range(3):
        state, loss = updater.update(state, batch)  # finding-also
    print(loss)


if __name__ == "__main__":
    main()
