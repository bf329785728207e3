# source: jax-ml/jax#6312
# blind: fifth

import jax
import jax.numpy as jnp


def cosine(a, b):
    return jnp.dot(a, b) / (jnp.linalg.norm(a) * jnp.linalg.norm(b) + 1e-8)


def rank(queries, documents, top=3):
    """For each query the documents that are closest to it."""
    results = []
    for query in queries:
        scores = jnp.array([cosine(query, doc) for doc in documents])  # finding
        results.append(jnp.argsort(-scores)[:top])
    return jnp.stack(results)


def main():
    k1, k2 = jax.random.split(jax.random.key(0))
    queries = jax.random.normal(k1, (4, 32))
    documents = jax.random.normal(k2, (100, 32))
    print(rank(queries, documents))


if __name__ == "__main__":
    main()
