# blind: fifth

import equinox as eqx
import jax
import jax.numpy as jnp


class Policy(eqx.Module):
    torso: eqx.nn.MLP

    def __init__(self, obs_dim, n_actions, key):
        self.torso = eqx.nn.MLP(obs_dim, n_actions, 512, 2, key=key)

    def __call__(self, obs):
        return self.torso(obs)


@eqx.filter_jit
def act(policy, obs):
    return jnp.argmax(jax.vmap(policy)(obs), axis=-1)


def make_act(policy):
    params, static = eqx.partition(policy, eqx.is_array)

    @jax.jit
    def forward(params, obs):
        return jax.vmap(eqx.combine(params, static))(obs)

    return lambda obs: forward(params, obs)


def main():
    policy = Policy(64, 6, jax.random.key(0))
    print(act(policy, jnp.ones((32, 64))).shape, make_act(policy)(jnp.ones((32, 64))).shape)


if __name__ == "__main__":
    main()
