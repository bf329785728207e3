# source: jax-md/jax-md#99
# blind: eighteenth

import jax
import jax.numpy as jnp


def lloyd_assign(points, centers):
    d2 = ((points[:, None, :] - centers[None]) ** 2).sum(-1)
    return jnp.argmin(d2, axis=1)


def recenter(points, labels, centers):
    onehot = jax.nn.one_hot(labels, centers.shape[0])
    counts = onehot.sum(0)[:, None]
    return jnp.where(counts > 0, onehot.T @ points / jnp.maximum(counts, 1.0), centers)


@jax.jit
def kmeans(points, centers):
    n = points.shape[0]

    def body(i, carry):
        centers, moved = carry
        labels = lloyd_assign(points, centers)
        new = recenter(points, labels, centers)
        changed = lloyd_assign(points, new) != labels
        moved = moved + changed.sum() / n  # finding
        return new, moved

    init = (centers, jnp.zeros((), jnp.int32))  # finding-also
    return jax.lax.fori_loop(0, 10, body, init)  # finding-also


def main():
    key_p, key_c = jax.random.split(jax.random.key(0))
    points = jax.random.normal(key_p, (64, 2))
    centers = jax.random.choice(key_c, points, (3,), replace=False)
    print(kmeans(points, centers))


if __name__ == "__main__":
    main()
