"""The common part of flax.linen and flax.nnx."""

from __future__ import annotations

from jaxlint.staging.evaluator.external_models import LibraryCall
from jaxlint.staging.values import Value
from jaxlint.staging.values.stage import Why

_TABLE_OPTIONS = frozenset(
    [
        "depth",
        "show_repeated",
        "mutable",
        "console_kwargs",
        "table_kwargs",
        "column_kwargs",
        "compute_flops",
        "compute_vjp_flops",
        "row_filter",
        "method",
        "graph",
    ]
)


def tabulated(call: LibraryCall, part: Why) -> tuple[list[Value], dict[str, Value]]:
    """The arguments that `tabulate` passes to the module, traced. Settings are closed over and not traced."""
    return [call.staged(value, part, keeps_python=True) for value in call.args], {
        name: call.staged(value, part, keeps_python=True)
        for name, value in call.kwargs.items()
        if name not in _TABLE_OPTIONS
    }
