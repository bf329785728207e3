# source: jax-ml/jax#2960

import jax
import jax.numpy as jnp


@jax.jit
def kmeans(points, centres, tol=1e-4, max_iter=100):
    def lloyd(c):
        dist = jnp.sum((points[:, None] - c[None]) ** 2, -1)
        onehot = jax.nn.one_hot(dist.argmin(1), c.shape[0])
        return (onehot.T @ points) / jnp.maximum(onehot.sum(0), 1.0)[:, None]

    def cond(state):
        _, shift, i = state
        return (shift > tol) & (i < max_iter)

    def body(state):
        c, _, i = state
        new = lloyd(c)
        return new, jnp.abs(new - c).max(), i + 1

    return jax.lax.while_loop(cond, body, (centres, jnp.inf, 0))[0]


if __name__ == "__main__":
    pts = jax.random.normal(jax.random.key(0), (50, 2))
    for k in (2, 3):
        print(k, float(jnp.sum(kmeans(pts, pts[:k]))))
