"""A captured call as on one device: without the placement of its arrays and the sharding constraints of its program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax

from jaxlint_runtime.lowering.function_versions import Staged
from jaxlint_runtime.lowering.jaxpr_interpreter import evaluate
from jaxlint_runtime.model import CapturedCall, CapturedFunction
from jaxlint_runtime.sharding.stated_constraints import constrains, on_mesh

_PLACES = ("in_shardings", "out_shardings", "device", "backend")


def unplaced(captured: CapturedFunction, staged: Staged) -> CapturedFunction:
    """The changed record of the call. `staged` is the original function. Raises StagingError."""
    assert captured.call is not None
    call = captured.call
    avals = jax.tree.map(_bare, call.avals, is_leaf=_is_aval)
    others = {name: value for name, value in captured.options.others.items() if name not in _PLACES}
    bare = replace(
        captured,
        call=CapturedCall(call.args, call.kwargs, avals),
        options=replace(captured.options, others=others),
    )
    if constrains(staged.jaxpr):
        bare.function = _without_constraints(staged)
    return bare


def _is_aval(leaf: Any) -> bool:
    return isinstance(leaf, jax.ShapeDtypeStruct)


def _bare(leaf: Any) -> Any:
    if not _is_aval(leaf):
        return leaf
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=getattr(leaf, "weak_type", False))


def _without_constraints(staged: Staged) -> Any:
    jaxpr, structure = staged.jaxpr, jax.tree.structure(staged.traced.out_info)

    def function(*args: Any, **kwargs: Any) -> Any:
        leaves = [leaf for leaf in jax.tree.leaves((args, kwargs)) if isinstance(leaf, jax.core.Tracer)]
        return jax.tree.unflatten(structure, evaluate(jaxpr, leaves, on_mesh(None)))

    return function
