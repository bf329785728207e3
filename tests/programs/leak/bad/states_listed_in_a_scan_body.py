# blind: seventeenth

"""Roll out a learned dynamics model and look at the hidden states."""
import flax.linen as nn
import jax
import jax.numpy as jnp


class Dynamics(nn.Module):
    state_dim: int

    @nn.compact
    def __call__(self, s, a):
        h = nn.tanh(nn.Dense(32)(jnp.concatenate([s, a], axis=-1)))
        return s + nn.Dense(self.state_dim)(h)


def rollout(model, params, s0, actions):
    visited = []

    def body(s, a):
        s = model.apply(params, s, a)
        visited.append(s)  # finding
        return s, jnp.sum(s**2)

    last, costs = jax.lax.scan(body, s0, actions)
    path = jnp.stack(visited)  # finding-also
    return last, costs.sum(), path


def main():
    model = Dynamics(4)
    k_init, k_act = jax.random.split(jax.random.key(0))
    s0 = jnp.zeros(4)
    actions = jax.random.normal(k_act, (20, 2))
    params = model.init(k_init, s0, actions[0])
    last, cost, path = rollout(model, params, s0, actions)
    print(cost, path.shape)


if __name__ == "__main__":
    main()
