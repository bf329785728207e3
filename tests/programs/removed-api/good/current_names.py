# source: jax-ml/jax#11706

import jax
import jax.numpy as jnp
from jax import config, ops
from jax.example_libraries import optimizers
from jax.tree_util import tree_map

config.update("jax_debug_nans", False)
init_fun, update_fun, get_params = optimizers.sgd(1e-2)


class Clipper:
    def clip(self, x, a_min, a_max):
        return jnp.clip(x, a_min, a_max)


def tree_multimap(f, *trees):
    return tree_map(f, *trees)


@jax.jit
def step(i, state, x, ids):
    params = get_params(state)
    pooled = ops.segment_sum(x, ids, num_segments=2)
    grads = jax.grad(lambda p: jnp.trapezoid(jnp.sum((p - pooled) ** 2, -1)))(params)
    return update_fun(i, tree_multimap(lambda g: Clipper().clip(g, a_min=-1, a_max=1), grads), state)


state = init_fun(jnp.zeros((2, 3)))
print(get_params(step(0, state, jnp.ones((4, 3)), jnp.array([0, 0, 1, 1]))))
