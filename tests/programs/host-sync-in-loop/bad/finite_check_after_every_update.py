# source: jax-ml/jax#5605
# blind: fourth

import jax
import jax.numpy as jnp


def all_finite(tree):
    return all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(tree))  # finding-also


@jax.jit
def update(params, batch, lr):
    def loss_fn(p):
        return jnp.mean((jnp.sin(batch @ p["a"]) * p["b"]) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads), loss


class GuardedTrainer:
    def __init__(self, params, lr):
        self.params, self.lr = params, lr
        self.skipped = 0

    def apply(self, batch):
        params, loss = update(self.params, batch, self.lr)
        if all_finite(params):  # finding
            self.params = params
        else:
            self.skipped += 1
        return loss

    def fit(self, batches):
        for batch in batches:
            loss = self.apply(batch)  # finding-also
        return loss


if __name__ == "__main__":
    trainer = GuardedTrainer({"a": jnp.ones((4, 4)), "b": jnp.ones(4)}, 0.1)
    print(trainer.fit([jnp.ones((2, 4)) * i for i in range(30)]), trainer.skipped)
