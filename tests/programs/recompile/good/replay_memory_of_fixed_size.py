# source: jax-ml/jax#2521
# blind: fourth

import jax
import jax.numpy as jnp
import numpy as np
import optax


class Memory:
    """A ring of transitions; batches always have the same shape."""

    def __init__(self, capacity, dim, seed=0):
        self.obs = np.zeros((capacity, dim), np.float32)
        self.targets = np.zeros(capacity, np.float32)
        self.size = 0
        self.rng = np.random.default_rng(seed)

    def add(self, obs, target):
        row = self.size % len(self.obs)
        self.obs[row], self.targets[row] = obs, target
        self.size += 1

    def draw(self, batch_size):
        rows = self.rng.integers(0, min(self.size, len(self.obs)), batch_size)
        return self.obs[rows], self.targets[rows]


optimizer = optax.adam(1e-3)


@jax.jit  # finding-other
def fit(params, opt_state, obs, targets):
    def loss_fn(p):
        return jnp.mean((jnp.tanh(obs @ p["w"]) @ p["v"] - targets) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main(steps=40):
    rng = np.random.default_rng(0)
    params = {"w": jnp.ones((3, 8)) * 0.1, "v": jnp.ones(8)}
    opt_state = optimizer.init(params)
    memory = Memory(1000, 3)
    for _ in range(steps):
        obs = rng.normal(size=3).astype(np.float32)
        memory.add(obs, obs.sum())
        params, opt_state, loss = fit(params, opt_state, *memory.draw(32))
    print(loss)


if __name__ == "__main__":
    main()
