"""The common part of flax.linen and flax.nnx."""

from __future__ import annotations

from jaxlint.libraries.layers import input_shape, option
from jaxlint.staging.evaluator.external_models import LibraryCall
from jaxlint.staging.shapes.applied import Applied, broadcast_shapes, shapes
from jaxlint.staging.shapes.measures import size_of
from jaxlint.staging.values import Value
from jaxlint.staging.values.arrays import Shape
from jaxlint.staging.values.plain import is_none
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


# -- the result shapes of attention and its masks


@shapes("flax.linen.make_causal_mask flax.nnx.make_causal_mask")
def causal_mask(applied: Applied) -> Shape:
    shape = applied.shape(0, "x")
    if not shape:
        applied.unclear()
    added = applied.number(1, "extra_batch_dims", otherwise=0)
    return (*(1,) * added, *shape[:-1], 1, shape[-1], shape[-1])


@shapes("flax.linen.make_attention_mask flax.nnx.make_attention_mask")
def attention_mask(applied: Applied) -> Shape:
    queries, keys = applied.shape(0, "query_input"), applied.shape(1, "key_input")
    if not queries or not keys:
        applied.unclear()
    added = applied.number(3, "extra_batch_dims", otherwise=0)
    batch = broadcast_shapes([(applied.args[0], queries[:-1]), (applied.args[1], keys[:-1])])
    return (*(1,) * added, *batch, 1, queries[-1], keys[-1])


@shapes("flax.linen.MultiHeadDotProductAttention flax.linen.MultiHeadAttention flax.linen.SelfAttention")
@shapes("flax.nnx.MultiHeadAttention")
def attention(applied: Applied) -> Shape:
    """The queries, with `out_features` features if the layer was created with them, otherwise as many as its input has."""
    shape = input_shape(applied)
    asked = option(applied, 3 if ".nnx." in applied.name else -1, "out_features")
    if not shape:
        applied.unclear()
    if asked is None or is_none(asked):
        return shape
    size = size_of(asked, applied.of)
    return applied.unclear() if size is None else (*shape[:-1], size)
