import jax
import jax.numpy as jnp
import optax


def td_loss(params, obs, actions, rewards):
    q = obs @ params
    chosen = jnp.take_along_axis(q, actions[:, None], axis=1)[:, 0]
    advantage = rewards[:, None] - q
    return optax.huber_loss(chosen, rewards).mean() + 0.0 * advantage.mean()


params = jnp.zeros((4, 2))
obs = jnp.ones((64, 4))
actions = jnp.zeros((64,), jnp.int32)
print(jax.grad(td_loss)(params, obs, actions, jnp.ones((64,))))
