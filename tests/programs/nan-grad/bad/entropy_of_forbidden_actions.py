# source: jax-ml/jax#17070
# blind: fourth

from typing import NamedTuple

import jax
import jax.numpy as jnp


class MaskedPolicy(NamedTuple):
    logits: jax.Array
    legal: jax.Array

    def probs(self):
        return jax.nn.softmax(jnp.where(self.legal, self.logits, -jnp.inf), axis=-1)

    def entropy(self):
        p = self.probs()
        return -jnp.sum(jnp.where(self.legal, p * jnp.log(p), 0.0), axis=-1)  # finding

    def log_prob(self, action):
        return jax.nn.log_softmax(jnp.where(self.legal, self.logits, -1e9))[action]


def loss_fn(params, obs, legal, action, advantage):
    policy = MaskedPolicy(obs @ params, legal)
    return -policy.log_prob(action) * advantage - 0.01 * policy.entropy()


@jax.jit
def update(params, batch):
    def mean_loss(p):
        return jax.vmap(loss_fn, in_axes=(None, 0, 0, 0, 0))(p, *batch).mean()

    return params - 0.1 * jax.grad(mean_loss)(params)


def main():
    obs = jnp.ones((4, 3))
    legal = jnp.array([[1, 1, 0, 1, 0]] * 4, bool)
    batch = (obs, legal, jnp.zeros(4, jnp.int32), jnp.ones(4))
    print(update(jnp.zeros((3, 5)), batch))


if __name__ == "__main__":
    main()
