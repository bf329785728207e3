# source: jax-ml/jax#8521
# blind: second

import equinox as eqx
import jax
import jax.numpy as jnp


class Ensemble(eqx.Module):
    members: list

    def __init__(self, count, width, *, key):
        self.members = [
            eqx.nn.MLP(2, 1, width, 2, key=key)  # finding
            for _ in range(count)
        ]

    def __call__(self, x):
        return jnp.concatenate([member(x) for member in self.members])


def spread(model, xs):
    preds = jax.vmap(model)(xs)
    return preds.mean(axis=1), preds.std(axis=1)


def acquire(model, pool, count):
    _, uncertainty = spread(model, pool)
    return pool[jnp.argsort(-uncertainty)[:count]]


def main():
    model_key, pool_key = jax.random.split(jax.random.key(5))
    model = Ensemble(4, 16, key=model_key)
    pool = jax.random.normal(pool_key, (100, 2))
    print(acquire(model, pool, 3))


if __name__ == "__main__":
    main()
