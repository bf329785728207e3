# source: jax-ml/jax#10596
# blind: fourth

import collections

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
        self.train_step = jax.jit(self._train_step, donate_argnums=(0, 1))
        self.recent = collections.deque(maxlen=100)

    def loss(self, params, x, y):
        logits = x @ params["w"] + params["b"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    def _train_step(self, params, opt_state, images, labels, key):
        rows = jax.random.randint(key, (self.batch_size,), 0, images.shape[0])
        loss, grads = jax.value_and_grad(self.loss)(params, images[rows], labels[rows])
        updates, opt_state = self.tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    def fit(self, params, key, steps):
        opt_state = self.tx.init(params)
        for k in jax.random.split(key, steps):
            params, opt_state, loss = self.train_step(params, opt_state, self.images, self.labels, k)
            self.recent.append(loss)
        return params, float(jnp.stack(self.recent).mean())


def load(n=20000, dim=784):
    rng = np.random.default_rng(0)
    return rng.random((n, dim), dtype=np.float32), rng.integers(0, 10, n).astype(np.int32)


def main():
    images, labels = load()
    trainer = Trainer(images, labels, 64)
    params = {"w": jnp.zeros((784, 10)), "b": jnp.zeros(10)}
    print(trainer.fit(params, jax.random.key(0), 10)[1])


if __name__ == "__main__":
    main()
