# source: jax-ml/jax#2521
# blind: fourth

import jax
import jax.numpy as jnp
import numpy as np
import optax


class Memory:
    """All transitions of the run so far."""

    def __init__(self):
        self.obs, self.targets = [], []

    def add(self, obs, target):
        self.obs.append(obs)
        self.targets.append(target)

    def everything(self):
        return np.stack(self.obs), np.array(self.targets, np.float32)


optimizer = optax.adam(1e-3)


@jax.jit
def fit(params, opt_state, obs, targets):
    def loss_fn(p):
        return jnp.mean((jnp.tanh(obs @ p["w"]) @ p["v"] - targets) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


class Learner:
    def __init__(self, params):
        self.params = params
        self.opt_state = optimizer.init(params)
        self.memory = Memory()

    def observe(self, obs, target):
        self.memory.add(obs, target)
        obs, targets = self.memory.everything()
        self.params, self.opt_state, loss = fit(self.params, self.opt_state, obs, targets)  # finding
        return loss


def main(steps=40):
    rng = np.random.default_rng(0)
    learner = Learner({"w": jnp.ones((3, 8)) * 0.1, "v": jnp.ones(8)})
    for _ in range(steps):
        obs = rng.normal(size=3).astype(np.float32)
        loss = learner.observe(obs, obs.sum())  # finding-also
    print(loss)


if __name__ == "__main__":
    main()
