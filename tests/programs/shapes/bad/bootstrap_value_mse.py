# source: jax-ml/jax#2697
# blind: nineteenth

import jax
import jax.numpy as jnp
import optax
import flax.linen as nn


class ValueNet(nn.Module):
    hidden: int = 64

    @nn.compact
    def __call__(self, obs):
        h = nn.tanh(nn.Dense(self.hidden)(obs))
        h = nn.tanh(nn.Dense(self.hidden)(h))
        return nn.Dense(1)(h)  # finding-also


def monte_carlo_returns(rewards, gamma):
    def backup(ret, r):
        ret = r + gamma * ret
        return ret, ret

    _, returns = jax.lax.scan(backup, 0.0, rewards, reverse=True)
    return returns


net = ValueNet()
tx = optax.adam(3e-3)


def value_loss(params, obs, returns):
    values = net.apply(params, obs)  # finding-also
    return 0.5 * jnp.mean(jnp.square(values - returns))  # finding


@jax.jit
def update(params, opt_state, obs, returns):
    loss, grads = jax.value_and_grad(value_loss)(params, obs, returns)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    key = jax.random.key(0)
    k_obs, k_init = jax.random.split(key)
    obs = jax.random.normal(k_obs, (256, 6))
    rewards = jnp.tanh(obs @ jnp.linspace(-1.0, 1.0, 6))
    returns = monte_carlo_returns(rewards, 0.5)
    params = net.init(k_init, obs)
    opt_state = tx.init(params)
    for step in range(400):
        params, opt_state, loss = update(params, opt_state, obs, returns)
    pred = net.apply(params, obs)[:, 0]
    r2 = 1.0 - jnp.mean((pred - returns) ** 2) / jnp.var(returns)
    print("loss", float(loss), "explained variance", float(r2))


if __name__ == "__main__":
    main()
