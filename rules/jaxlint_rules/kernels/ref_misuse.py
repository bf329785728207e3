"""Pallas kernels that use their Refs like arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CallEvent, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.syntax import dotted, own_nodes, positional_parameters, sizes_of_kernel
from jaxlint.api.tables import ARRAY_METHODS
from jaxlint.api.values import Function, ListValue, Partial, Transformed, TupleValue, Value, constant
from jaxlint.finding import Severity
from jaxlint_rules._names import passed
from jaxlint_rules.kernels import PALLAS_CALL
from jaxlint_rules.kernels._references import captured_arrays, used_as_array, wrong_reference_count

_COMPUTING = ("jnp.", "jax.", "lax.", "jax_numpy.")
_QUERIES = ("jax.experimental.pallas.program_id", "jax.experimental.pallas.num_programs")


class RefMisuse(Rule):
    """A Pallas kernel uses its Refs as arrays.

    ## What it does
    Finds kernels that:

    - rebind a Ref (`o_ref = x_ref[...] * 2`);
    - compute with a Ref without reading it (`x_ref * 2`);
    - return a value;
    - capture a JAX array from an enclosing scope;
    - accumulate into an output that nothing initializes;
    - take another number of Refs than the call has inputs, outputs and scratch buffers;
    - ask for a `program_id` beyond the dimensions of the grid.

    Also finds `program_id` outside kernels.

    ## Why is this bad?
    A kernel writes its result through Refs: `o_ref[...] = value`. Rebinding the name writes
    nothing, so the output is whatever the memory held, without an exception. The same holds for an
    output that is never initialized. The other cases raise when the kernel is traced: a kernel must
    receive every array as an input, with a BlockSpec of its own.

    ## Example
    ```python
    def kernel(x_ref, o_ref):
        o_ref = x_ref[...] * 2
    ```

    ## Use instead
    ```python
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the kernel raises, or returns undefined memory.

    ## References
    - [Pallas quickstart](https://docs.jax.dev/en/latest/pallas/quickstart.html)
    """

    code = "JAX1306"
    name = "ref-misuse"
    category = "kernels"
    severity = Severity.ERROR

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        target, bound = t.target, set()
        if isinstance(target, Partial):
            bound = set(target.kwargs)
            if target.args:
                return
            target = target.function
        if t.api != PALLAS_CALL or not isinstance(target, Function) or isinstance(target.node, ast.Lambda):
            return
        if target.module is not event.frame.module:
            return
        refs = {p.arg for p in positional_parameters(target.node)} - bound - sizes_of_kernel(target.node)
        if target.cls is not None or not refs:
            return
        for node, message, reason in _misused(target.node, refs, t):
            report(node, message, reason=reason, function=target.qualname)
        for name, node in captured_arrays(target):
            report(
                node,
                f"the kernel captures array `{name}`, which raises ValueError; pass it as an input with a BlockSpec",
                reason="a Pallas kernel cannot capture constants",
                function=target.qualname,
            )

    @concerns(*_QUERIES, callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        stage = event.frame.stage
        if isinstance(event.callee, Transformed):
            wrong = wrong_reference_count(event) if event.callee.api == PALLAS_CALL else ""
            if wrong:
                report(
                    event.node,
                    wrong,
                    reason="a kernel gets one Ref per input, then one per output, then the scratch Refs",
                )
            return
        if event.name not in _QUERIES or not stage.within("jit") or stage.within("pallas", "convention"):
            return
        if event.is_certain() and not event.is_caught() and not report.module.is_test:
            report(
                event.node,
                f"`{event.name.rpartition('.')[2]}` outside a Pallas kernel raises AssertionError; call it inside one",
                reason="no `pallas_call` runs this code",
            )


def _misused(
    kernel: ast.FunctionDef | ast.AsyncFunctionDef, refs: set[str], t: Transformed
) -> Iterator[tuple[ast.AST, str, str]]:
    """The misuses of references in a kernel, with their messages."""
    nodes = list(own_nodes(kernel))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id in refs and not _keeps(node.value, target.id):
                    yield (
                        node,
                        f"`{target.id}` is rebound, which writes nothing; use `{target.id}[...] = `",
                        "a kernel returns its results by writing to its Refs",
                    )
        elif isinstance(node, ast.Return) and node.value is not None:
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                if not isinstance(node.value, ast.Call) or _computes(node.value):
                    yield (
                        node,
                        "a Pallas kernel that returns a value raises ValueError; write to an output Ref",
                        "`pallas_call` requires that the kernel returns None",
                    )
        else:
            name, why = used_as_array(node, refs - stored)  # `x = x[...]` rebinds the name to an array
            if name:
                yield node, f"`{name}` is a Ref, not an array; read it with `{name}[...]`", why
    yield from _never_set(kernel, refs, t)
    grid = _dimensions(t.options.get("grid"))
    if grid is not None and "grid_spec" not in t.options:
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                axis = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
                if node.func.attr == "program_id" and isinstance(axis, int) and axis >= grid:
                    yield (
                        node,
                        f"axis {axis} of `program_id` is out of bounds, which raises ValueError: the grid has {grid} dimension{'s' if grid != 1 else ''}",
                        "`program_id` counts grid axes from 0",
                    )


def _computes(call: ast.Call) -> bool:
    """`jnp.dot(x, y)`, `(x * y).astype(dtype)`: other calls may return None."""
    if isinstance(call.func, ast.Attribute) and isinstance(
        call.func.value, (ast.BinOp, ast.Subscript, ast.Call)
    ):
        if call.func.attr in ARRAY_METHODS:
            return True
    return dotted(call.func).startswith(_COMPUTING)


def _never_set(
    kernel: ast.FunctionDef | ast.AsyncFunctionDef, refs: set[str], t: Transformed
) -> Iterator[tuple[ast.AST, str, str]]:
    """Outputs that a kernel only adds to: nothing sets their initial value."""
    given = t.options.get("in_specs")
    names = [p.arg for p in positional_parameters(kernel) if p.arg in refs]
    if isinstance(given, (ListValue, TupleValue)) and given.items is not None:
        outputs = set(names[len(given.items) :])
    else:
        outputs = set(names[-1:])
    if not outputs or {"input_output_aliases", "grid_spec", "**", "scratch_shapes"} & set(t.options):
        return
    added: dict[str, list[ast.AST]] = {}
    stores: dict[str, int] = {}
    passed_on: set[str] = set()
    for node in ast.walk(kernel):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            added.setdefault(dotted(node.target.value), []).append(node)
        elif isinstance(node, ast.Assign) and _adds_to_itself(node):
            added.setdefault(dotted(node.targets[0].value), []).append(node)  # type: ignore[attr-defined]
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            stores[dotted(node.value)] = stores.get(dotted(node.value), 0) + 1
        elif isinstance(node, ast.Call):
            passed_on |= {dotted(argument) for argument in passed(node)}
    for name, nodes in added.items():
        if name in outputs and name not in passed_on and stores.get(name) == len(nodes):
            yield (
                nodes[0],
                f"`{name}` is accumulated into but never initialized; zero it in the first program",
                "use `pl.when(pl.program_id(...) == 0)`; an output starts with whatever is in memory",
            )


def _adds_to_itself(node: ast.Assign) -> bool:
    """`o_ref[...] = o_ref[...] + x`"""
    target = node.targets[0]
    return isinstance(target, ast.Subscript) and any(
        isinstance(part, ast.Subscript) and dotted(part.value) == dotted(target.value)
        for part in ast.walk(node.value)
    )


def _keeps(value: ast.expr, name: str) -> bool:
    """`ref = ref.at[0]`, `x = x[...]`, `ref = make(ref)`: the name becomes a view, or the value that was read."""
    while isinstance(value, (ast.Subscript, ast.Attribute, ast.Call)):
        if isinstance(value, ast.Call):
            if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value)):
                return True
            value = value.func
        else:
            value = value.value
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value))


def _dimensions(grid: Value | None) -> int | None:
    if isinstance(grid, (TupleValue, ListValue)) and grid.items is not None:
        return len(grid.items)
    return 1 if isinstance(constant(grid), int) else None
