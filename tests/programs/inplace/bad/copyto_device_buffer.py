# source: jax-ml/jax#2219

import jax
import jax.numpy as jnp
import numpy as np


class TargetNetwork:
    def __init__(self, params):
        self.params = [jnp.array(p) for p in params]

    def sync(self, online):
        for target, source in zip(self.params, online):
            np.copyto(target, source)  # finding


@jax.jit
def q_values(params, obs):
    return jnp.tanh(obs @ params[0]) @ params[1]


def main():
    online = [jnp.ones((3, 4)), jnp.ones((4, 2))]
    target = TargetNetwork(online)
    target.sync([p * 0.9 for p in online])
    print(q_values(target.params, jnp.ones(3)))


main()
