# source: google-deepmind/acme#120
# blind: first

import jax
import jax.numpy as jnp
import optax


class Learner:
    def __init__(self, network, params, optimizer):
        self.network, self.params, self.optimizer = network, params, optimizer
        self.opt_state = optimizer.init(params)
        self._sgd_step = jax.jit(self._step)  # finding

    def _step(self, params, opt_state, batch):
        def loss(p):
            return jnp.mean((self.network(p, batch["obs"]) - batch["target"]) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        updates, opt_state = self.optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, value

    def run(self, iterator):
        for batch in iterator:
            self.params, self.opt_state, _ = self._sgd_step(self.params, self.opt_state, batch)  # finding-also


if __name__ == "__main__":
    learner = Learner(lambda p, x: x @ p, jnp.ones(3), optax.adam(1e-3))
    learner.run([{"obs": jnp.ones((2, 3)), "target": jnp.ones(2)}] * 2)
