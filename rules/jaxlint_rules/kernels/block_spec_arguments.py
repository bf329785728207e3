"""BlockSpecs that do not match their kernel call."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.syntax import cache
from jaxlint.api.values import (
    External,
    ExternalObject,
    Function,
    Partial,
    TupleValue,
    constant,
    is_none,
    short_source,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._fixes import propose
from jaxlint_rules._names import passed
from jaxlint_rules.kernels import PALLAS_CALL
from jaxlint_rules.kernels._coverage import SPEC, overwritten, specs_of, unwritten


class BlockSpecArguments(Rule):
    """A `BlockSpec` does not match its kernel call.

    ## What it does
    Finds:

    - `pl.BlockSpec(index_map, block_shape)`, in the old order of arguments;
    - index maps that take another number of arguments than the grid has dimensions;
    - index maps that return another number of indices than the block has dimensions, or element
      indices instead of block indices;
    - outputs whose blocks are written by several programs of the grid;
    - outputs of which the grid leaves a part unwritten, where all sizes are known.

    ## Why is this bad?
    Most of these raise when the kernel is called. Since JAX 0.4.31 the block shape comes first, and
    the old order raises `TypeError`. An index map that returns element indices reads the wrong
    blocks. If several programs write one block, only the last value remains. A grid of `n // block`
    programs drops the tail of an array, which stays undefined.

    ## Example
    ```python
    pl.BlockSpec(lambda i: (i, 0), (8, 128))
    ```

    ## Use instead
    ```python
    pl.BlockSpec((8, 128), lambda i: (i, 0))
    ```

    ## Fix safety
    Safe for arguments in the old order, which are swapped: the call raised before. Index maps have
    no automatic fix.

    ## When not to fix
    The old order is right for JAX 0.4.30 and older. Calls with a `grid_spec`, whose index maps take
    further arguments, are not reported.

    ## References
    - [Pallas: grids and BlockSpecs](https://docs.jax.dev/en/latest/pallas/grid_blockspec.html)
    """

    code = "JAX1301"
    name = "block-spec-arguments"
    category = "kernels"
    severity = Severity.ERROR
    fixable = "safe"

    def check_outputs(self, event: TransformEvent, report: Reporter) -> None:
        """An output block that several programs write."""
        t = event.transformed
        kernel = t.target.function if isinstance(t.target, Partial) else t.target
        outputs = specs_of(t.options.get("out_specs"))
        left = None if event.frame.module.is_test or event.frame.is_chosen_by_size() else unwritten(t)
        if left is not None:
            axis, written, size = left
            given = [one.value for one in getattr(event.node, "keywords", []) if one.arg == "grid"]
            report(
                given[0] if given else event.node,
                f"the grid writes {written} of {size} elements of the output along axis {axis}; use `pl.cdiv` for the grid",
                reason="no program writes the other elements, so they are undefined; Pallas pads the last block",
                severity=Severity.WARNING,
            )
        if event.frame.module.is_test or len(outputs) != 1 or "grid_spec" in t.options:
            return
        place = overwritten(t, kernel) if isinstance(kernel, Function) else None
        if place is not None:
            report(
                place if place in _nodes(event.frame.module.tree) else event.node,
                "several programs of the grid write the same output block: the last one wins; accumulate with `+=`",
                reason=f"`{kernel.name if isinstance(kernel, Function) else ''}` sets its output and never adds to it",
                severity=Severity.WARNING,
            )

    @concerns(SPEC)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name != SPEC or not isinstance(event.callee, External) or not event.args:
            return
        if isinstance(event.args[0], Function):
            message = "Pass the block shape first"
            report(
                event.node,
                "`BlockSpec` with the index map first raises TypeError; pass the block shape first",
                reason="JAX 0.4.31 changed the order of these arguments",
                fix=propose(report, event.node, "swap-arguments", message, safe=True, keyword="index_map"),
            )

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if t.api == PALLAS_CALL:
            self.check_outputs(event, report)
        if t.api != PALLAS_CALL or "grid_spec" in t.options or "**" in t.options or "grid" not in t.options:
            return
        grid = constant(t.options["grid"])
        dimensions = len(grid) if isinstance(grid, tuple) else 1 if isinstance(grid, int) else None
        value = t.options["grid"]
        if dimensions is None and isinstance(value, TupleValue) and value.items is not None:
            dimensions = len(value.items)
        if dimensions is None:
            return
        for keyword in ("in_specs", "out_specs"):
            specs = t.options.get(keyword)
            for spec in specs_of(specs):
                problem = _mismatch(spec, dimensions)
                if problem:
                    place = spec.node if isinstance(spec.node, ast.Call) else event.node
                    if place not in _nodes(event.frame.module.tree):
                        place = event.node  # it was created in another file
                    report(
                        place,
                        f"the index map in `{keyword}` {problem}",
                        reason="an index map takes an index per dimension of the grid, and returns one per dimension of the block",
                    )
                    return


@cache
def _nodes(tree: ast.Module) -> frozenset[ast.AST]:
    return frozenset(node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _counts_elements(node: ast.AST | None) -> str:
    """`BlockSpec((B,), lambda i: (i * B,))`: an index map returns the number of a block, not its first element."""
    parts = passed(node) if isinstance(node, ast.Call) else []
    shape = next((part for part in parts if isinstance(part, ast.Tuple)), None)
    index_map = next((part for part in parts if isinstance(part, ast.Lambda)), None)
    if shape is None or index_map is None:
        return ""
    indices = index_map.body.elts if isinstance(index_map.body, ast.Tuple) else [index_map.body]
    if len(indices) != len(shape.elts):
        return ""
    counters = {parameter.arg for parameter in index_map.args.args}
    for index, size in zip(indices, shape.elts, strict=True):
        if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Mult):
            for counter, factor in ((index.left, index.right), (index.right, index.left)):
                named = isinstance(counter, ast.Name) and counter.id in counters
                if named and ast.unparse(factor) == ast.unparse(size) and ast.unparse(size) != "1":
                    return f"returns an element index, `{short_source(index)}`; return the block index `{short_source(counter)}`"
    return ""


def _dimensions(count: int) -> str:
    return f"{count} dimension{'s' * (count != 1)}"


def _mismatch(spec: ExternalObject, dimensions: int) -> str:
    """What is wrong with a block's index map; "" if nothing is certain."""
    shape = argument(spec, 0, "block_shape")
    index_map = argument(spec, 1, "index_map")
    counted = _counts_elements(spec.node) if "indexing_mode" not in spec.kwargs else ""
    if counted:
        return counted
    if not isinstance(index_map, Function) or index_map.node.args.kwonlyargs:
        return ""
    arguments = index_map.node.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    needed = positional - len(arguments.defaults)
    if arguments.vararg is None and not needed <= dimensions <= positional:
        return f"takes {positional} argument{'s' * (positional != 1)}, but the grid has {_dimensions(dimensions)}: TypeError"
    if not isinstance(index_map.node, ast.Lambda) or not isinstance(shape, TupleValue) or is_none(shape):
        return ""
    if shape.items is None:
        return ""
    body = index_map.node.body
    returned = (
        len(body.elts)
        if isinstance(body, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in body.elts)
        else None
    )
    if returned is None and isinstance(body, (ast.Name, ast.Constant)) and arguments.vararg is None:
        returned = 1
    if returned is not None and returned != len(shape.items):
        return f"returns {returned} ind{'ices' if returned != 1 else 'ex'}, but the block has {_dimensions(len(shape.items))}: ValueError"
    return ""
