# source: jax-ml/jax#9675
# blind: second

from functools import partial

import jax
import jax.numpy as jnp
import optax


class Learner:
    def __init__(self, params, tx):
        self.params = params
        self.tx = tx
        self.opt_state = tx.init(params)
        self._update = jax.jit(self._update_fn, donate_argnums=(0, 1))

    def _update_fn(self, params, opt_state, batch):
        grads = jax.grad(partial(self.loss, batch=batch))(params)
        updates, opt_state = self.tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state

    @staticmethod
    def loss(params, batch):
        return jnp.mean((batch @ params["w"]) ** 2)

    def update(self, batch):
        old = self.params
        self.params, self.opt_state = self._update(self.params, self.opt_state, batch)
        delta = jax.tree.map(lambda a, b: a - b, self.params, old)  # finding
        return optax.global_norm(delta)


def main():
    learner = Learner({"w": jnp.ones((4, 2))}, optax.adam(1e-3))
    norms = [learner.update(batch) for batch in jnp.ones((3, 8, 4))]
    print(norms)


if __name__ == "__main__":
    main()
