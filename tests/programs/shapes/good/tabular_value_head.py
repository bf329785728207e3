# blind: twenty-first

from typing import Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class ValueHead(nn.Module):
    hidden: Sequence[int] = (32,)

    @nn.compact
    def __call__(self, x):
        for width in self.hidden:
            x = nn.tanh(nn.Dense(width)(x))
        return nn.Dense(1)(x)


def loss_fn(params, model, obs, returns):
    values = model.apply(params, obs)
    targets = returns[:, None]
    return 0.5 * jnp.mean((values - targets) ** 2)


def discounted(rewards, gamma=0.95):
    out = np.zeros_like(rewards)
    running = 0.0
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * running
        out[t] = running
    return out


def main():
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(256, 6)).astype(np.float32)
    rewards = (0.1 * obs[:, 0]).astype(np.float32)
    returns = discounted(rewards) + obs[:, 1]
    model = ValueHead()
    params = model.init(jax.random.key(0), obs[:1])
    tx = optax.adam(1e-2)
    opt_state = tx.init(params)

    @jax.jit
    def step(params, opt_state, obs, returns):
        loss, grads = jax.value_and_grad(loss_fn)(params, model, obs, returns)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    for _ in range(150):
        params, opt_state, loss = step(params, opt_state, obs, returns)
    pred = model.apply(params, obs)[:, 0]
    corr = np.corrcoef(np.asarray(pred), returns)[0, 1]
    print("loss", float(loss), "correlation", float(corr))
    assert corr > 0.9


if __name__ == "__main__":
    main()
