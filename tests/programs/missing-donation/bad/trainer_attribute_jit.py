# source: jax-ml/jax#9675

import jax
import jax.numpy as jnp
import optax


class Trainer:
    def __init__(self, params, lr=1e-3):
        self.tx = optax.adamw(lr)
        self.params = params
        self.opt_state = self.tx.init(params)
        self._train_step = jax.jit(self.train_step)  # finding

    def loss(self, params, batch):
        h = jax.nn.gelu(batch["x"] @ params["w1"])
        return jnp.mean((h @ params["w2"] - batch["y"]) ** 2)

    def train_step(self, params, opt_state, batch):  # finding-also
        loss, grads = jax.value_and_grad(self.loss)(params, batch)
        updates, opt_state = self.tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    def fit(self, batches):
        for batch in batches:
            self.params, self.opt_state, loss = self._train_step(self.params, self.opt_state, batch)  # finding-also
        return loss


if __name__ == "__main__":
    params = {"w1": jnp.ones((4, 8)) * 0.1, "w2": jnp.ones((8, 1)) * 0.1}
    print(Trainer(params).fit([{"x": jnp.ones((2, 4)), "y": jnp.ones((2, 1))}] * 3))
