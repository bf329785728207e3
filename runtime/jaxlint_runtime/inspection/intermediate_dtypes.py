"""How many bytes of intermediate values a program computes in each dtype."""

from __future__ import annotations

from collections import Counter
from typing import Any

from jaxlint_runtime.compat import inner_jaxprs, open_jaxpr
from jaxlint_runtime.lowering.avals import nbytes


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
