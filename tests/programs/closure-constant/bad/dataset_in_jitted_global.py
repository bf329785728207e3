# source: jax-ml/jax#10130
# blind: first

import jax
import jax.numpy as jnp
import numpy as np

FEATURES = jnp.asarray(np.random.default_rng(0).normal(size=(20000, 256)), jnp.float32)
TARGETS = FEATURES[:, 0] ** 2


def nll(params):
    hidden = jnp.tanh(FEATURES @ params["w1"])
    return jnp.mean((hidden @ params["w2"] - TARGETS) ** 2)


@jax.jit  # finding-also
def descend(params):  # finding-also
    loss, grads = jax.value_and_grad(nll)(params)  # finding
    return jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads), loss


if __name__ == "__main__":
    p = {"w1": jnp.ones((256, 4)) * 0.01, "w2": jnp.ones(4)}
    for _ in range(3):
        p, l = descend(p)
