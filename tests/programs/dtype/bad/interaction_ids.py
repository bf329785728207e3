# source: jax-ml/jax#29254
# blind: twentieth

"""Removes repeated user/item interactions before training a recommender."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Catalogue:
    num_users: int = 200_000  # finding-also
    num_items: int = 60_000  # finding-also


def load_interactions(cat, rows=20_000, seed=0):
    rng = np.random.default_rng(seed)
    users = rng.integers(0, cat.num_users, rows, dtype=np.int32)
    items = rng.integers(0, cat.num_items, rows, dtype=np.int32)
    repeat = rng.integers(0, rows, rows // 4)
    users = np.concatenate([users, users[repeat]])
    items = np.concatenate([items, items[repeat]])
    return users, items


def pair_id(cat, users, items):
    """One integer per (user, item) pair."""
    return users * cat.num_items + items  # finding


@partial(jax.jit, static_argnames="cat")
def first_occurrence(users, items, cat):
    """Sorts by pair and marks the first row of every distinct pair."""
    ids = pair_id(cat, users, items)  # finding-also
    order = jnp.argsort(ids)
    ranked = ids[order]
    first = jnp.concatenate([jnp.ones(1, bool), ranked[1:] != ranked[:-1]])
    return ranked, first


@partial(jax.jit, static_argnames="cat")
def user_of_pair(ids, cat):
    return ids // cat.num_items  # finding-also


def interactions_per_user(cat, users, items):
    ids, first = first_occurrence(users, items, cat)
    owner = user_of_pair(ids, cat)  # finding-also
    return jax.ops.segment_sum(first.astype(jnp.int32), owner, num_segments=cat.num_users)


def main():
    cat = Catalogue()
    users, items = load_interactions(cat)
    counts = interactions_per_user(cat, jnp.asarray(users), jnp.asarray(items))
    print("distinct interactions", int(counts.sum()), "of", len(users))
    print("active users", int((counts > 0).sum()), "busiest", int(counts.max()))


if __name__ == "__main__":
    main()
