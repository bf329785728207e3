# blind: seventeenth

"""Soft updates of a target critic that is a copy of the dict."""
import jax
import jax.numpy as jnp
import numpy as np

DIMS = (8, 32, 1)


def init(key):
    params = {}
    for i, (m, n) in enumerate(zip(DIMS[:-1], DIMS[1:])):
        key, sub = jax.random.split(key)
        params[f"w{i}"] = jax.random.normal(sub, (m, n)) / np.sqrt(m)
        params[f"b{i}"] = jnp.zeros(n)
    return params


def value(params, x):
    h = jnp.tanh(x @ params["w0"] + params["b0"])
    return (h @ params["w1"] + params["b1"])[:, 0]


@jax.jit
def td_grads(params, target, obs, rew, next_obs):
    goal = rew + 0.99 * value(target, next_obs)

    def loss(p):
        return jnp.mean((value(p, obs) - goal) ** 2)

    return jax.value_and_grad(loss)(params)


class Critic:
    def __init__(self, key, lr=1e-2, tau=0.005):
        self.online = init(key)
        self.target = dict(self.online)
        self.lr, self.tau = lr, tau

    def learn(self, obs, rew, next_obs):
        loss, grads = td_grads(self.online, self.target, obs, rew, next_obs)
        self.online = {k: v - self.lr * grads[k] for k, v in self.online.items()}
        self.target = {
            k: (1 - self.tau) * v + self.tau * self.online[k] for k, v in self.target.items()
        }
        return loss


def main():
    critic = Critic(jax.random.key(0))
    ko, kr = jax.random.split(jax.random.key(1))
    obs = jax.random.normal(ko, (64, 8))
    rew = jax.random.normal(kr, (64,))
    for _ in range(10):
        loss = critic.learn(obs, rew, jnp.roll(obs, 1, axis=0))
    gap = sum(jnp.abs(critic.online[k] - critic.target[k]).sum() for k in critic.online)
    print("loss", loss, "gap", gap)


if __name__ == "__main__":
    main()
