# blind: eleventh
import jax
import jax.numpy as jnp


class Policy:
    def __init__(self, params):
        self.params = params
        self._act = jax.jit(lambda obs: jnp.tanh(obs @ self.params))

    def act(self, obs):
        return self._act(obs)

    def load(self, params):
        self.params = params
        self._act = jax.jit(lambda obs: jnp.tanh(obs @ self.params))


if __name__ == "__main__":
    policy = Policy(jnp.ones((3, 2)))
    policy.act(jnp.ones((4, 3)))
    policy.load(jnp.zeros((3, 2)))
    print(policy.act(jnp.ones((4, 3))))
