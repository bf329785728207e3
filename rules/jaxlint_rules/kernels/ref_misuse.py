"""A Pallas kernel that treats its references as if they were arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent, TransformEvent
from jaxlint.staging.syntax_facts import positional_parameters
from jaxlint.staging.values import (
    Function,
    ListValue,
    Partial,
    Transformed,
    TupleValue,
    Value,
    constant,
)
from jaxlint_rules.kernels import PALLAS_CALL

_QUERIES = ("jax.experimental.pallas.program_id", "jax.experimental.pallas.num_programs")


class RefMisuse(Rule):
    """A Pallas kernel treats its references as if they were arrays.

    ## What it does
    Finds kernels that rebind a reference (`o_ref = x_ref[...] * 2`), compute with one without reading it (`x_ref * 2`), return a
    value, or ask for a `program_id` beyond the dimensions of the grid; and `program_id` outside of kernels.

    ## Why is this bad?
    A kernel writes its result through references: `o_ref[...] = value`. Rebinding the name writes nothing, and the output is
    whatever the memory held, without an error. The others raise when the kernel is traced.

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
    Never.

    ## References
    - [Pallas quickstart](https://docs.jax.dev/en/latest/pallas/quickstart.html)
    """

    code = "JAX1306"
    name = "ref-misuse"
    category = "kernels"
    severity = Severity.ERROR
    examples = (
        Example(
            "rebound, unread, returned, beyond the grid, outside of kernels",
            """
import functools
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def rebound(x_ref, o_ref):
    o_ref = x_ref[...] * 2  # finding

def unread(x_ref, o_ref, *, scale):
    o_ref[...] = x_ref * scale  # finding

def returned(x_ref, o_ref):
    return x_ref[...] * 2  # finding

def beyond(x_ref, o_ref):
    o_ref[...] = x_ref[...] + pl.program_id(1)  # finding

def call(x):
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    a = pl.pallas_call(rebound, out_shape=out)(x)
    b = pl.pallas_call(functools.partial(unread, scale=2.0), out_shape=out)(x)
    c = pl.pallas_call(returned, out_shape=out)(x)
    return a + b + c + pl.pallas_call(beyond, out_shape=out, grid=(8,))(x)

@jax.jit
def outside(x):
    return x + pl.program_id(0)  # finding
""",
        ),
        Example(
            "read, written, passed on",
            """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def scaled(value, ref):
    ref[...] = value * pl.program_id(0)

def kernel(x_ref, o_ref, acc_ref):
    x = x_ref[...]
    acc_ref[...] = jnp.zeros_like(acc_ref)
    n = x_ref.shape[0] * 2
    scaled(x + n, o_ref)

    @pl.when(pl.program_id(1) == 0)
    def write():
        o_ref[...] += x
        return None

    return

def call(x):
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(kernel, out_shape=out, grid=(4, 2))(x)
""",
        ),
        Example(
            "pipelines inside of a kernel have a grid of their own",
            """
import functools
import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

@jax.jit
def call(x):
    @functools.partial(pl.kernel, out_type=x, mesh=pltpu.create_tensorcore_mesh("core"))
    def kernel(x_hbm, o_hbm):
        @functools.partial(pltpu.emit_pipeline, grid=(2,))
        def pipeline(x_ref, o_ref):
            o_ref[...] = x_ref[...] + pl.program_id(0)

        pipeline(x_hbm, o_hbm)

    return kernel(x)
""",
        ),
    )

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
        refs = {p.arg for p in positional_parameters(target.node) if p.arg not in bound}
        if target.cls is not None or not refs:
            return
        for node, message, reason in _misused(target.node, refs, t):
            report(node, message, reason=reason, function=target.qualname)

    @concerns(*_QUERIES)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        stage = event.frame.stage
        if event.name not in _QUERIES or not stage.within("jit") or stage.within("pallas", "convention"):
            return
        if stage.certain and not event.frame.catching and not report.module.is_test:
            report(
                event.node,
                f"`{event.name.rpartition('.')[2]}` has a meaning inside of a kernel alone",
                reason="no `pallas_call` is around it; tracing fails here",
            )


def _misused(
    kernel: ast.FunctionDef | ast.AsyncFunctionDef, refs: set[str], t: Transformed
) -> Iterator[tuple[ast.AST, str, str]]:
    """Where a kernel misuses its references, with what to say of it."""
    rebound: set[str] = set()
    for node in _own_nodes(kernel):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id in refs and not _keeps(node.value, target.id):
                    rebound.add(target.id)
                    yield (
                        node,
                        f"`{target.id}` is rebound, and nothing is written through it: use `{target.id}[...] = `",
                        "a kernel gives its result by writing through its references",
                    )
        elif isinstance(node, ast.Return) and node.value is not None:
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                if not isinstance(node.value, ast.Call):
                    yield (
                        node,
                        "a kernel must not return a value",
                        "`pallas_call` raises unless it returns None",
                    )
        elif isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                if isinstance(side, ast.Name) and side.id in refs and side.id not in rebound:
                    yield (
                        node,
                        f"`{side.id}` is a reference, not an array: read it with `{side.id}[...]`",
                        "references have no arithmetic",
                    )
    grid = _dimensions(t.options.get("grid"))
    if grid is not None and "grid_spec" not in t.options:
        for node in _own_nodes(kernel):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                axis = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
                if node.func.attr == "program_id" and isinstance(axis, int) and axis >= grid:
                    yield (
                        node,
                        f"the grid has {grid} dimension{'s' if grid != 1 else ''}, and no axis {axis}",
                        "`program_id` counts the axes of the grid from 0",
                    )


def _own_nodes(kernel: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside of it, in order."""
    stack: list[ast.AST] = list(reversed(kernel.body))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(reversed(list(ast.iter_child_nodes(node))))


def _keeps(value: ast.expr, name: str) -> bool:
    """`ref = ref.at[0]`, `x = x[...]`, `ref = make(ref)`: the name goes on as a view, or as what was read."""
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
