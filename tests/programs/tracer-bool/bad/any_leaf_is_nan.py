# source: jax-ml/jax#4196
# blind: first

import jax
import jax.numpy as jnp
import optax


def has_bad(tree):
    return any(jnp.isnan(leaf).any() for leaf in jax.tree.leaves(tree))  # finding


class Trainer:
    def __init__(self, apply_fn, tx):
        self.apply_fn = apply_fn
        self.tx = tx
        self.update = jax.jit(self._update, donate_argnums=(0, 1))

    def _update(self, params, opt_state, batch):
        def objective(p):
            return jnp.mean((self.apply_fn(p, batch["x"]) - batch["y"]) ** 2)

        loss, grads = jax.value_and_grad(objective)(params)
        if has_bad(grads):  # finding-also
            return params, opt_state, loss
        updates, opt_state = self.tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss


def main():
    trainer = Trainer(lambda p, x: x @ p, optax.sgd(0.1))
    params = jnp.ones(3)
    state = trainer.tx.init(params)
    print(trainer.update(params, state, {"x": jnp.ones((2, 3)), "y": jnp.ones(2)}))


if __name__ == "__main__":
    main()
