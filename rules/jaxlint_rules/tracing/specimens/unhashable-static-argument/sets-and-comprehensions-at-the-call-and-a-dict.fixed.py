# sets and comprehensions at the call, and a dict, which has no hashable twin

import jax
import jax.numpy as jnp

def total(params, frozen, sizes=(), options=None):
    return sum(v.sum() for k, v in params.items() if k not in frozen)

fast = jax.jit(total, static_argnames=("frozen", "sizes", "options"))
p = {"a": jnp.ones(2), "b": jnp.ones(2)}
fast(p, frozen=frozenset({"b"}))
fast(p, frozen=frozenset({"b"}), sizes=tuple(n + 1 for n in (3, 2)))
fast(p, frozen=("b",), options={"act": "relu"})
fast(p, frozen=("b",), sizes=tuple([3, 2]))
