# blind: twentieth

"""Compares two inventory policies on the same demand (common random numbers)."""
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


@dataclass(frozen=True)
class Shop:
    days: int = 200
    mean_demand: float = 20.0
    price: float = 5.0
    holding: float = 0.1
    order_cost: float = 30.0
    unit_cost: float = 3.0


class Policy(NamedTuple):
    reorder_at: jax.Array
    order_up_to: jax.Array


@partial(jax.jit, static_argnames="shop")
def profit(policy, key, shop):
    """Average daily profit of a policy for the demand that belongs to `key`."""

    def day(stock, key):
        order = jnp.where(stock < policy.reorder_at, policy.order_up_to - stock, 0.0)
        demand = jax.random.poisson(key, shop.mean_demand).astype(jnp.float32)
        available = stock + order
        sold = jnp.minimum(available, demand)
        left = available - sold
        cost = shop.holding * left + shop.unit_cost * order + shop.order_cost * (order > 0)
        return left, shop.price * sold - cost

    _, daily = lax.scan(day, policy.order_up_to, jax.random.split(key, shop.days))
    return daily.mean()


def paired_difference(a, b, key, shop, trials=64):
    """Mean and standard error of profit(a) - profit(b) under shared demand."""
    keys = jax.random.split(key, trials)
    run = jax.vmap(lambda policy, k: profit(policy, k, shop), in_axes=(None, 0))
    difference = run(a, keys) - run(b, keys)
    return difference.mean(), difference.std(ddof=1) / trials**0.5


def unpaired_difference(a, b, key, shop, trials=64):
    key_a, key_b = jax.random.split(key)
    run = jax.vmap(lambda policy, k: profit(policy, k, shop), in_axes=(None, 0))
    first = run(a, jax.random.split(key_a, trials))
    second = run(b, jax.random.split(key_b, trials))
    error = jnp.sqrt((first.var(ddof=1) + second.var(ddof=1)) / trials)
    return first.mean() - second.mean(), error


def main():
    shop = Shop()
    lean = Policy(jnp.float32(30.0), jnp.float32(80.0))
    ample = Policy(jnp.float32(35.0), jnp.float32(100.0))
    k_paired, k_unpaired = jax.random.split(jax.random.key(0))
    mean, error = paired_difference(ample, lean, k_paired, shop)
    print("paired  ", float(mean), "+-", float(error))
    mean, error = unpaired_difference(ample, lean, k_unpaired, shop)
    print("unpaired", float(mean), "+-", float(error))


if __name__ == "__main__":
    main()
