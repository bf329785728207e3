# targets that are stopped, computed before, of a target network, and returns through a model on purpose

import jax
import jax.numpy as jnp


def net(params, x):
    return jnp.tanh(x @ params["w"]) @ params["v"]


def stopped(params, obs, reward, next_obs, gamma=0.99):
    target = jax.lax.stop_gradient(reward + gamma * net(params, next_obs))
    return jnp.mean((net(params, obs) - target) ** 2)


def of_target_network(params, target_params, obs, reward, next_obs, gamma=0.99):
    target = reward + gamma * net(target_params, next_obs)
    return jnp.mean((net(params, obs) - target) ** 2)


def update(params, obs, reward, next_obs, gamma=0.99):
    target = reward + gamma * net(params, next_obs)
    return jax.grad(lambda p: jnp.mean((net(p, obs) - target) ** 2))(params)


def through_the_model(params, obs, reward, next_obs, gamma=0.99):
    returns = reward + gamma * net(params, next_obs)
    return -jnp.mean(returns) + 0.1 * jnp.mean(net(params, obs) - net(params, next_obs))


params = {"w": jnp.ones((3, 4)), "v": jnp.ones(4)}
obs = jnp.ones((5, 3))
jax.grad(stopped)(params, obs, jnp.ones(5), obs)
jax.grad(of_target_network)(params, params, obs, jnp.ones(5), obs)
jax.jit(update)(params, obs, jnp.ones(5), obs)
jax.grad(through_the_model)(params, obs, jnp.ones(5), obs)
