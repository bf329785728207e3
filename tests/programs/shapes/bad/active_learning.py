# source: PetrochukM/PyTorch-NLP#2
# blind: twentieth
# missed: which axis holds the members

"""Pool-based active learning with a deep ensemble."""
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Config:
    members: int = 24
    features: int = 4
    classes: int = 3
    pool: int = 500
    query: int = 8


def make_ensemble(cfg, key):
    @eqx.filter_vmap
    def make(key):
        return eqx.nn.MLP(cfg.features, cfg.classes, 16, 1, key=key)

    return make(jax.random.split(key, cfg.members))


@eqx.filter_jit
def ensemble_probs(ensemble, x):
    """Class probabilities of every member for every row of x."""

    @eqx.filter_vmap(in_axes=(eqx.if_array(0), None))
    def per_member(model, x):
        return jax.vmap(model)(x)

    return jax.nn.softmax(per_member(ensemble, x), axis=-1)


def entropy(p):
    return -jnp.sum(p * jnp.log(p + 1e-12), axis=-1)


def mutual_information(probs):
    """BALD: entropy of the averaged prediction minus the average entropy."""
    consensus = probs.mean(axis=1)  # finding
    return entropy(consensus) - entropy(probs).mean(axis=1)  # finding-also


@eqx.filter_jit
def select(ensemble, pool, count):
    gain = mutual_information(ensemble_probs(ensemble, pool))  # finding-also
    _, rows = jax.lax.top_k(gain, count)  # finding-also
    return rows


def main():
    cfg = Config()
    k_model, k_pool = jax.random.split(jax.random.key(0))
    ensemble = make_ensemble(cfg, k_model)
    pool = jax.random.normal(k_pool, (cfg.pool, cfg.features))
    labelled = []
    for _ in range(3):
        rows = select(ensemble, pool, cfg.query)
        labelled.append(pool[rows])
        pool = pool.at[rows].set(0.0)
    print("queried rows of the last round", rows.tolist())
    print("labelled set", jnp.concatenate(labelled).shape)


if __name__ == "__main__":
    main()
