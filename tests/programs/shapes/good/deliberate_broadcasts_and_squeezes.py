# source: jax-ml/jax#2697
# blind: eighteenth

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Critic(nn.Module):
    @nn.compact
    def __call__(self, obs):
        x = nn.tanh(nn.Dense(32)(obs))
        return nn.Dense(1)(x).squeeze(-1)


def pairwise_margin(scores, labels):
    """Every positive against every negative: the [n, n] broadcast is meant."""
    diff = scores[:, None] - scores[None, :]
    better = labels[:, None] > labels[None, :]
    return jnp.sum(jnp.where(better, jax.nn.softplus(-diff), 0.0)) / jnp.maximum(better.sum(), 1)


critic = Critic()
tx = optax.adam(3e-3)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def update(params, opt_state, obs, returns):
    def loss_fn(p):
        values = critic.apply({"params": p}, obs)
        assert values.shape == returns.shape
        return jnp.mean((values - returns) ** 2) + 0.1 * pairwise_margin(values, returns)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    obs = jax.random.normal(jax.random.key(0), (32, 3))
    obs = (obs - obs.mean(axis=0)) / obs.std(axis=0)
    params = critic.init(jax.random.key(1), obs)["params"]
    opt_state = tx.init(params)
    for _ in range(20):
        params, opt_state, loss = update(params, opt_state, obs, obs[:, 0])
    print(loss)


if __name__ == "__main__":
    main()
