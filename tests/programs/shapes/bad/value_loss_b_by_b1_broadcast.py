# source: jax-ml/jax#2697
# blind: eighteenth

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Critic(nn.Module):
    width: int = 32

    @nn.compact
    def __call__(self, obs):
        x = nn.tanh(nn.Dense(self.width)(obs))
        return nn.Dense(1)(x)  # finding-also


critic = Critic()
tx = optax.adam(3e-3)


def value_loss(params, obs, returns):
    values = critic.apply({"params": params}, obs)
    return 0.5 * jnp.mean((values - returns) ** 2)  # finding


@functools.partial(jax.jit, donate_argnums=(0, 1))
def update(params, opt_state, obs, returns):
    loss, grads = jax.value_and_grad(value_loss)(params, obs, returns)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main(steps=200):
    k_obs, k_init = jax.random.split(jax.random.key(0))
    obs = jax.random.normal(k_obs, (64, 3))
    returns = obs[:, 0] * 2.0
    params = critic.init(k_init, obs)["params"]
    opt_state = tx.init(params)
    for _ in range(steps):
        params, opt_state, loss = update(params, opt_state, obs, returns)
    print("loss", loss, "variance of returns", returns.var())


if __name__ == "__main__":
    main()
