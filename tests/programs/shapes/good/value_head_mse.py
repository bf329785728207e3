# blind: nineteenth

import jax
import jax.numpy as jnp
import optax
import flax.linen as nn


class Critic(nn.Module):
    width: int = 32

    @nn.compact
    def __call__(self, obs):
        h = nn.tanh(nn.Dense(self.width)(obs))
        return nn.Dense(1)(h)


critic = Critic()
tx = optax.adam(3e-3)


def critic_loss(params, obs, returns):
    values = critic.apply(params, obs)
    return 0.5 * jnp.mean(jnp.square(values - returns[:, None]))


@jax.jit
def update(params, opt_state, obs, returns):
    loss, grads = jax.value_and_grad(critic_loss)(params, obs, returns)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    k_obs, k_init = jax.random.split(jax.random.key(0))
    obs = jax.random.normal(k_obs, (128, 4))
    returns = jnp.tanh(obs @ jnp.array([1.0, -0.5, 0.2, 0.0]))
    params = critic.init(k_init, obs)
    opt_state = tx.init(params)
    for _ in range(200):
        params, opt_state, loss = update(params, opt_state, obs, returns)
    print("loss", float(loss), "target variance", float(returns.var()))


if __name__ == "__main__":
    main()
