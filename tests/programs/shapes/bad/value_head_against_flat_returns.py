# blind: tenth

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Critic(nn.Module):
    width: int = 64

    @nn.compact
    def __call__(self, obs):
        h = nn.tanh(nn.Dense(self.width)(obs))
        h = nn.tanh(nn.Dense(self.width)(h))
        return nn.Dense(1)(h)


critic = Critic()
tx = optax.adam(3e-4)


def value_loss(params, obs, returns):
    values = critic.apply(params, obs)
    return 0.5 * jnp.mean((returns - values) ** 2)  # finding


@jax.jit
def update(params, opt_state, obs, returns):
    loss, grads = jax.value_and_grad(value_loss)(params, obs, returns)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


obs = jnp.ones((128, 8))
returns = jnp.linspace(0.0, 1.0, 128)
params = critic.init(jax.random.key(0), obs)
opt_state = tx.init(params)
params, opt_state, loss = update(params, opt_state, obs, returns)
print(loss)
