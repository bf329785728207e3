# targets of the network that is differentiated

import jax
import jax.numpy as jnp
import optax


def net(params, x):
    return jnp.tanh(x @ params["w"]) @ params["v"]


def td_loss(params, batch, gamma=0.99):
    q = net(params, batch["obs"])
    target = batch["reward"] + gamma * (1 - batch["done"]) * net(params, batch["next_obs"])
    return jnp.mean((q - target) ** 2)  # finding


def huber(params, obs, rewards, next_obs, discount):
    value = net(params, obs)
    return optax.huber_loss(value, discount * net(params, next_obs) + rewards).mean()  # finding


def in_a_lambda(params, obs, reward, next_obs, gamma=0.9):
    target = reward + gamma * net(params, next_obs)
    loss = lambda p: jnp.mean((net(p, obs) - (reward + gamma * net(p, next_obs))) ** 2)  # finding
    return jax.grad(loss)(params), jax.grad(lambda p: jnp.mean((net(p, obs) - target) ** 2))(params)


params = {"w": jnp.ones((3, 4)), "v": jnp.ones(4)}
obs = jnp.ones((5, 3))
batch = {"obs": obs, "next_obs": obs, "reward": jnp.ones(5), "done": jnp.zeros(5)}
jax.grad(td_loss)(params, batch)
jax.jit(jax.value_and_grad(huber))(params, obs, jnp.ones(5), obs, 0.9)
jax.jit(in_a_lambda)(params, obs, jnp.ones(5), obs)
