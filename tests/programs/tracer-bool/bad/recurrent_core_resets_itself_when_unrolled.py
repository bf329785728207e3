# blind: every clause

import haiku as hk
import jax
import jax.numpy as jnp


class Core(hk.RNNCore):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def initial_state(self, batch_size):
        return jnp.zeros(self.n)

    def __call__(self, x, h):
        h = jnp.tanh(hk.Linear(self.n)(jnp.concatenate([x, h])))
        if h.sum() > 100:  # finding
            h = jnp.zeros_like(h)
        return h, h


def unroll(xs):
    core = Core(2)
    return hk.dynamic_unroll(core, xs, core.initial_state(None))


f = hk.transform(unroll)
print(f.init(jax.random.key(0), jnp.ones((3, 2))))
