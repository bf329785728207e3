# blind: eleventh

"""Each epoch starts from the first optimizer state."""
import jax
import jax.numpy as jnp
import optax


class Trainer:
    def __init__(self, params, lr):
        self.params = params
        self.tx = optax.adamw(lr)
        self.opt_state = self.tx.init(params)
        self._update = jax.jit(self._update_impl, donate_argnums=(0,))

    def _update_impl(self, params, opt_state, x, y):
        def loss_fn(p):
            return jnp.mean((jnp.tanh(x @ p["w"]) @ p["v"] - y) ** 2)

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = self.tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    def run_epoch(self, batches):
        params, opt_state = self.params, self.opt_state
        losses = []
        for x, y in batches:
            params, opt_state, loss = self._update(params, opt_state, x, y)  # finding
            losses.append(loss)
        self.params = params
        return jnp.mean(jnp.stack(losses))

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            print(epoch, self.run_epoch(batches))


if __name__ == "__main__":
    params = {"w": jnp.ones((3, 8)) * 0.1, "v": jnp.ones(8) * 0.1}
    Trainer(params, 1e-2).fit([(jnp.ones((16, 3)), jnp.ones(16))] * 3, 4)
