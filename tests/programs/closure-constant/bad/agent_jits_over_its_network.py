# source: patrick-kidger/equinox#291
# blind: fifth

import equinox as eqx
import jax
import jax.numpy as jnp


class QNetwork(eqx.Module):
    torso: eqx.nn.MLP
    head: eqx.nn.Linear

    def __init__(self, obs_dim, n_actions, key):
        k1, k2 = jax.random.split(key)
        self.torso = eqx.nn.MLP(obs_dim, 512, 512, 2, key=k1)
        self.head = eqx.nn.Linear(512, n_actions, key=k2)

    def __call__(self, obs):
        return self.head(jax.nn.relu(self.torso(obs)))


def make_policy(network):
    @jax.jit
    def act(obs):
        return jnp.argmax(jax.vmap(network)(obs), axis=-1)  # finding

    return act


def main():
    network = QNetwork(64, 6, jax.random.key(0))
    act = make_policy(network)  # finding-also
    for _ in range(3):
        actions = act(jnp.ones((32, 64)))
    print(actions.shape)


if __name__ == "__main__":
    main()
