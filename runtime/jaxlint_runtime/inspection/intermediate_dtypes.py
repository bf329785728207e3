"""The dtypes of a program's computations: bytes of intermediate values in each, and the coarsest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp

from jaxlint_runtime.compat import inner_jaxprs, open_jaxpr
from jaxlint_runtime.lowering.avals import nbytes

_FLOATING = frozenset({"float64", "float32", "bfloat16", "float16"})


def coarsest(names: Iterable[str]) -> str:
    """The floating dtype with the largest epsilon among dtype names; float32 if none is floating."""
    known = sorted(set(names) & _FLOATING)
    return max(known, key=lambda name: float(jnp.finfo(name).eps), default="float32")


def dtype_bytes(jaxpr: Any) -> dict[str, int]:
    """Bytes of results by dtype name, each equation counted once, inner jaxprs included; largest first."""
    counts: Counter[str] = Counter()
    _count(jaxpr, counts)
    return dict(counts.most_common())


def _count(jaxpr: Any, counts: Counter[str]) -> None:
    for eqn in open_jaxpr(jaxpr).eqns:
        inner = inner_jaxprs(eqn)
        for _, body in inner:
            _count(body, counts)
        if not inner:
            for var in eqn.outvars:
                dtype = getattr(var.aval, "dtype", None)
                if dtype is not None:
                    counts[str(dtype)] += nbytes(var.aval)
