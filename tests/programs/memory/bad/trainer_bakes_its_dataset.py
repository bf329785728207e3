# source: jax-ml/jax#10596
# blind: fourth

import jax
import jax.numpy as jnp
import numpy as np
import optax


class Trainer:
    def __init__(self, images, labels, batch_size, lr=1e-3):
        self.images = jnp.asarray(images)
        self.labels = jnp.asarray(labels)
        self.batch_size = batch_size
        self.tx = optax.adam(lr)
        self.train_step = jax.jit(self._train_step)  # finding-also

    def loss(self, params, x, y):
        logits = x @ params["w"] + params["b"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    def _train_step(self, params, opt_state, key):
        rows = jax.random.randint(key, (self.batch_size,), 0, self.images.shape[0])
        x, y = self.images[rows], self.labels[rows]  # finding
        grads = jax.grad(self.loss)(params, x, y)
        updates, opt_state = self.tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state

    def fit(self, params, key, steps):
        opt_state = self.tx.init(params)
        for k in jax.random.split(key, steps):
            params, opt_state = self.train_step(params, opt_state, k)
        return params


def load(n=20000, dim=784):
    rng = np.random.default_rng(0)
    return rng.random((n, dim), dtype=np.float32), rng.integers(0, 10, n).astype(np.int32)


def main():
    images, labels = load()
    trainer = Trainer(images, labels, 64)
    params = {"w": jnp.zeros((784, 10)), "b": jnp.zeros(10)}
    print(trainer.fit(params, jax.random.key(0), 10)["b"])


if __name__ == "__main__":
    main()
