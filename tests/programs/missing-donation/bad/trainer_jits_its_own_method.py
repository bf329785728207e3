# source: poets-ai/elegy#226
# blind: ninth

import jax
import jax.numpy as jnp
import optax


class Trainer:
    def __init__(self, tx, params):
        self.tx = tx
        self.params = params
        self.opt_state = tx.init(params)
        self._compiled = jax.jit(self._step)  # finding

    def _step(self, params, opt_state, batch):
        def loss(p):
            hidden = jax.nn.relu(batch["x"] @ p["in"])
            return jnp.mean((hidden @ p["out"] - batch["y"]) ** 2)

        grads = jax.grad(loss)(params)
        updates, opt_state = self.tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    def fit(self, batches):
        for batch in batches:
            self.params, self.opt_state = self._compiled(self.params, self.opt_state, batch)  # finding-also
        return self.params


if __name__ == "__main__":
    params = {"in": jnp.ones((64, 512)), "out": jnp.ones((512, 8))}
    batches = [{"x": jnp.ones((32, 64)), "y": jnp.zeros((32, 8))}] * 4
    print(Trainer(optax.adam(1e-3), params).fit(batches)["out"].shape)
