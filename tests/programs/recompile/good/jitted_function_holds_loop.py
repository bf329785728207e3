# source: jax-ml/jax#2251

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def sinkhorn(cost, a, b, eps=0.05):
    def body(_, fg):
        f, g = fg
        f = eps * (jnp.log(a) - jax.nn.logsumexp((g[None] - cost) / eps, axis=1))
        g = eps * (jnp.log(b) - jax.nn.logsumexp((f[:, None] - cost) / eps, axis=0))
        return f, g

    f, g = lax.fori_loop(0, 50, body, (jnp.zeros_like(a), jnp.zeros_like(b)))
    return jnp.sum(jnp.exp((f[:, None] + g[None] - cost) / eps) * cost)


def distances(clouds, target, w):
    out = []
    for cloud in clouds:
        cost = jnp.sum((cloud[:, None] - target[None]) ** 2, -1)
        out.append(sinkhorn(cost, w, w))
    return jnp.stack(out)


if __name__ == "__main__":
    clouds = [jnp.ones((6, 2)) * i for i in range(4)]
    print(distances(clouds, clouds[0], jnp.ones(6) / 6))
