# source: secretflow/secretflow#406

import jax
import jax.numpy as jnp


class KMeans:
    def __init__(self, n_clusters, n_iter=10):
        self.n_clusters = n_clusters
        self.n_iter = n_iter

    def update(self, centroids, x):
        distance = jnp.linalg.norm(x[:, None, :] - centroids[None, :, :], axis=-1)
        labels = jnp.argmin(distance, axis=1)
        for j in range(self.n_clusters):
            members = x[labels == j]  # finding
            centroids = centroids.at[j].set(members.mean(axis=0))
        return centroids

    def fit(self, x):
        def body(_, centroids):
            return self.update(centroids, x)

        return jax.lax.fori_loop(0, self.n_iter, body, x[: self.n_clusters])


x = jax.random.normal(jax.random.key(0), (60, 2))
print(KMeans(3).fit(x))
