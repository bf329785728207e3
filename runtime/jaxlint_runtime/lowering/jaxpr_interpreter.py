"""Evaluates a jaxpr equation by equation, with changes to some of them: the common base of jaxpr transformations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime import compat
from jaxlint_runtime.compat import Literal

CALLS = frozenset({"jit", "pjit", "closed_call", "core_call", "core_closed_call"})
REMATERIALISED = frozenset({"remat", "remat2", "checkpoint"})

Rule = Callable[[Any, list[Any]], Sequence[Any]]  # an equation and its operands -> its results


def of_traced_leaves(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], list[Any]]:
    """A call as a function of the traced leaves of its arguments, and these leaves; the others are fixed."""
    leaves, structure = jax.tree.flatten((args, kwargs))
    traced = [n for n, leaf in enumerate(leaves) if isinstance(leaf, jax.core.Tracer)]

    def flat(*values: Any) -> Any:
        filled = list(leaves)
        for n, value in zip(traced, values, strict=True):
            filled[n] = value
        new_args, new_kwargs = jax.tree.unflatten(structure, filled)
        return function(*new_args, **new_kwargs)

    return flat, [leaves[n] for n in traced]


class Environment:
    """The values of a jaxpr's variables during its evaluation."""

    def __init__(self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any]) -> None:
        parts = compat.open_jaxpr(jaxpr)
        self.values: dict[Any, Any] = {}
        self.write(parts.constvars, consts)
        self.write(parts.invars, args)

    def read(self, atoms: Iterable[Any]) -> list[Any]:
        """The values of variables and literals."""
        return [atom.val if isinstance(atom, Literal) else self.values[atom] for atom in atoms]

    def write(self, variables: Iterable[Any], values: Iterable[Any]) -> None:
        """Sets variables."""
        self.values.update(zip(variables, values, strict=True))


def evaluate(jaxpr: Any, args: Sequence[Any], rule: Rule = compat.bind) -> list[Any]:
    """The outputs of a jaxpr on flat `args`; `rule` evaluates or traces each equation."""
    parts = compat.open_jaxpr(jaxpr)
    environment = Environment(jaxpr, parts.consts, args)
    for eqn in parts.eqns:
        environment.write(eqn.outvars, rule(eqn, environment.read(eqn.invars)))
    return environment.read(parts.outvars)


def inlined(jaxpr: Any, args: Sequence[Any]) -> Any:
    """The same program with inner jitted calls inlined, traced for flat `args`."""
    return jax.make_jaxpr(lambda *flat: evaluate(jaxpr, flat, _inline))(*args)


def _inline(eqn: Any, values: list[Any]) -> Sequence[Any]:
    if is_plain_call(eqn):
        return evaluate(compat.inner_jaxprs(eqn)[0][1], values, _inline)
    return compat.bind(eqn, values)


def scan(eqn: Any, values: Sequence[Any], step: Callable[..., Sequence[Any]]) -> list[Any]:
    """A scan equation on `values` with `step` as its body; `step` takes and returns flat values."""
    params = eqn.params
    first, carries = compat.scan_counts(eqn)
    consts, init, stacked = values[:first], values[first : first + carries], values[first + carries :]

    def turn(carry: Any, x: Any) -> Any:
        outs = step(*consts, *carry, *x)
        return list(outs[:carries]), list(outs[carries:])

    final, results = jax.lax.scan(
        turn,
        list(init),
        list(stacked),
        length=params["length"],
        reverse=params["reverse"],
        unroll=params["unroll"],
    )
    return [*final, *results]


def while_loop(
    eqn: Any, values: Sequence[Any], cond: Callable[..., Sequence[Any]], step: Callable[..., Sequence[Any]]
) -> Any:
    """A while equation on `values` with `cond` and `step` as its condition and body."""
    split = eqn.params["cond_nconsts"]
    start = split + eqn.params["body_nconsts"]
    cond_consts, body_consts = values[:split], values[split:start]

    def running(carry: list[Any]) -> Any:
        return cond(*cond_consts, *carry)[0]

    if not compat.open_jaxpr(dict(compat.inner_jaxprs(eqn))["cond_jaxpr"]).outvars[0].aval.shape:
        return jax.lax.while_loop(
            running, lambda carry: list(step(*body_consts, *carry)), list(values[start:])
        )

    def turn(carry: list[Any]) -> list[Any]:
        """Under vmap each example has its own condition, and its carry stays unchanged once that is false."""
        mask, after = running(carry), step(*body_consts, *carry)
        return [_where(mask, new, old) for new, old in zip(after, carry, strict=True)]

    return jax.lax.while_loop(lambda carry: running(carry).any(), turn, list(values[start:]))


def _where(mask: Any, new: Any, old: Any) -> Any:
    return jnp.where(mask.reshape(mask.shape + (1,) * (new.ndim - mask.ndim)), new, old)


def control_flow(
    eqn: Any, values: Sequence[Any], bodies: Sequence[Callable[..., Sequence[Any]]]
) -> Sequence[Any]:
    """A loop, branch or checkpoint on `values` with other `bodies`, which take and return flat values.

    The bodies come in the order of `compat.inner_jaxprs`. Raises ValueError for any other equation.
    """
    name = eqn.primitive.name
    if name == "scan":
        return scan(eqn, values, bodies[0])
    if name == "cond":
        return jax.lax.switch(values[0], list(bodies), *values[1:])
    if name == "while":
        named = dict(zip((key for key, _ in compat.inner_jaxprs(eqn)), bodies, strict=True))
        return while_loop(eqn, values, named["cond_jaxpr"], named["body_jaxpr"])
    if name in REMATERIALISED:
        run = jax.checkpoint(
            bodies[0], policy=eqn.params.get("policy"), prevent_cse=eqn.params.get("prevent_cse", True)
        )
        return run(*values)
    raise ValueError(f"{name} is not control flow")


def is_plain_call(eqn: Any) -> bool:
    """Whether an equation only calls another jaxpr: an inner jit that states no shardings."""
    if eqn.primitive.name not in CALLS or len(compat.inner_jaxprs(eqn)) != 1:
        return False
    given = (*eqn.params.get("in_shardings", ()), *eqn.params.get("out_shardings", ()))
    return all(isinstance(sharding, compat.UnspecifiedSharding) for sharding in given)
