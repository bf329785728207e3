# blind: sixteenth

"""Soft actor-critic: two critics in one agent, equinox."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Critic(eqx.Module):
    layers: list

    def __init__(self, obs_dim, act_dim, hidden, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.layers = [
            eqx.nn.Linear(obs_dim + act_dim, hidden, key=k1),
            eqx.nn.Linear(hidden, hidden, key=k2),
            eqx.nn.Linear(hidden, 1, key=k3),
        ]

    def __call__(self, obs, act):
        x = jnp.concatenate([obs, act])
        for layer in self.layers[:-1]:
            x = jax.nn.relu(layer(x))
        return self.layers[-1](x)[0]


class TwinCritic(eqx.Module):
    q1: Critic
    q2: Critic

    def __init__(self, obs_dim, act_dim, hidden, key):
        self.q1 = Critic(obs_dim, act_dim, hidden, key)  # finding-also
        self.q2 = Critic(obs_dim, act_dim, hidden, key)  # finding

    def __call__(self, obs, act):
        return self.q1(obs, act), self.q2(obs, act)


class Agent:
    def __init__(self, obs_dim, act_dim, key, lr=3e-4, gamma=0.99):
        self.critic = TwinCritic(obs_dim, act_dim, 64, key)
        self.target = self.critic
        self.optim = optax.adam(lr)
        self.opt_state = self.optim.init(eqx.filter(self.critic, eqx.is_array))
        self.gamma = gamma

    def update(self, batch):
        self.critic, self.target, self.opt_state, loss = critic_step(
            self.critic, self.target, self.opt_state, batch, self.optim, self.gamma
        )
        return loss


def critic_loss(critic, target, batch, gamma):
    obs, act, reward, next_obs, next_act = batch
    n1, n2 = jax.vmap(target)(next_obs, next_act)
    backup = jax.lax.stop_gradient(reward + gamma * jnp.minimum(n1, n2))
    q1, q2 = jax.vmap(critic)(obs, act)
    return jnp.mean((q1 - backup) ** 2) + jnp.mean((q2 - backup) ** 2)


@eqx.filter_jit
def critic_step(critic, target, opt_state, batch, optim, gamma):
    loss, grads = eqx.filter_value_and_grad(critic_loss)(critic, target, batch, gamma)
    updates, opt_state = optim.update(grads, opt_state)
    critic = eqx.apply_updates(critic, updates)
    t_arrays, t_static = eqx.partition(target, eqx.is_array)
    c_arrays, _ = eqx.partition(critic, eqx.is_array)
    t_arrays = optax.incremental_update(c_arrays, t_arrays, 0.005)
    return critic, eqx.combine(t_arrays, t_static), opt_state, loss


def main():
    agent = Agent(11, 3, jax.random.PRNGKey(0))
    rng = np.random.default_rng(0)
    for _ in range(100):
        batch = tuple(
            rng.normal(size=s).astype(np.float32)
            for s in [(64, 11), (64, 3), (64,), (64, 11), (64, 3)]
        )
        loss = agent.update(batch)
    print(loss)


if __name__ == "__main__":
    main()
