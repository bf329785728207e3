# blind: twenty-first
# missed: the batch behind a method that calls a step kept in an attribute

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Classifier(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, key, hidden=64):
        k1, k2 = jax.random.split(key)
        self.first = eqx.nn.Linear(20, hidden, key=k1)
        self.second = eqx.nn.Linear(hidden, 3, key=k2)
        self.dropout = eqx.nn.Dropout(0.2)

    def __call__(self, x, key):
        h = jax.nn.relu(self.first(x))
        h = self.dropout(h, key=key)
        return self.second(h)


def loss_fn(model, x, y, key):
    logits = jax.vmap(model)(x, key)  # finding
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


class Trainer:
    def __init__(self, model, lr=1e-3, seed=0):
        self.model = model
        self.optim = optax.adam(lr)
        self.opt_state = self.optim.init(eqx.filter(model, eqx.is_array))
        self.key = jax.random.PRNGKey(seed)
        optim = self.optim

        @eqx.filter_jit
        def step(model, opt_state, x, y, key):
            loss, grads = eqx.filter_value_and_grad(loss_fn)(model, x, y, key)
            updates, opt_state = optim.update(grads, opt_state)
            return eqx.apply_updates(model, updates), opt_state, loss

        self._step = step

    def fit_batch(self, x, y):
        self.key, sub = jax.random.split(self.key)
        self.model, self.opt_state, loss = self._step(
            self.model, self.opt_state, x, y, sub)
        return loss


def main():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(32, 20)), jnp.float32)
    y = jnp.asarray(rng.integers(0, 3, size=(32,)))
    trainer = Trainer(Classifier(jax.random.PRNGKey(7)))
    for _ in range(10):
        loss = trainer.fit_batch(x, y)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
