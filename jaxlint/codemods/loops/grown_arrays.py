"""`grown-array-to-list`: an array that grows in each iteration becomes a list of rows, which is concatenated
before the array is read.

losses = jnp.array([])                          losses = jnp.array([])
for i in range(steps):                          losses_rows = []
    loss = step(i)                              for i in range(steps):
    losses = jnp.append(losses, loss)               loss = step(i)
    if i % 100 == 0:                                losses_rows.append(loss)
        print(losses.mean())                        if i % 100 == 0:
                                                        if losses_rows:
                                                            losses = jnp.append(losses, np.concatenate(jax.device_get(losses_rows), axis=None))
                                                            losses_rows = []
                                                        print(losses.mean())
                                                if losses_rows:
                                                    losses = jnp.append(losses, np.concatenate(...))

JAX compiles another program for each length of the array.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from jaxlint.codemods.facts.dataflow import FUNCTIONS, Flow
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import function_around
from jaxlint.codemods.purity.values import ARRAY
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.source.statement_text import is_alone
from jaxlint.codemods.stageable import check_variables_hidden, program_and_file
from jaxlint.finding import Span, Step

_JOINS = {"append": "concatenate", "concatenate": "concatenate", "vstack": "vstack", "hstack": "hstack"}


@dataclass(frozen=True, slots=True)
class Growing:
    """`xs = jnp.append(xs, x)`. `value`: the added rows; `function`: "append", "concatenate", "vstack" or
    "hstack"; `axis`: as the program writes it.
    """

    statement: ast.Assign
    name: str
    value: ast.expr
    function: str
    axis: ast.expr | None


@codemod("grown-array-to-list")
def grown_array_to_list(draft: Draft, step: Step) -> None:
    """The span is the iterable of the loop."""
    loop = draft.site.find_loop(step.span)
    found = list(growing_in(loop, draft.site))
    if not found:
        raise Refused("no array grows in the loop")
    check_on_host(draft, loop)
    for one in found:
        _Rows(draft, loop, one).write()


def growing_in(loop: ast.For, site: Site) -> Iterator[Growing]:
    """The arrays that grow in iterations of a loop, directly or in an `if`."""
    waiting: list[ast.stmt] = list(loop.body)
    while waiting:
        statement = waiting.pop(0)
        if isinstance(statement, ast.If):
            waiting += [*statement.body, *statement.orelse]
        elif isinstance(statement, ast.Assign) and (found := _growing(statement, site)) is not None:
            yield found


def _growing(statement: ast.Assign, site: Site) -> Growing | None:
    target, call = statement.targets[0], statement.value
    if len(statement.targets) != 1 or not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
        return None
    name = site.names.qualified(call.func) or ""
    module, _, function = name.rpartition(".")
    if module != "jax.numpy" or function not in _JOINS or not all(one.arg == "axis" for one in call.keywords):
        return None
    parts, rest = list(call.args), list[ast.expr]()
    if function != "append":
        if not parts or not isinstance(parts[0], ast.Tuple | ast.List):
            return None
        parts, rest = list(parts[0].elts), parts[1:]
    else:
        parts, rest = parts[:2], parts[2:]
    axes = [*rest, *(one.value for one in call.keywords)]
    own = len(parts) == 2 and isinstance(parts[0], ast.Name) and parts[0].id == target.id
    if not own or len(axes) > 1 or any(isinstance(one, ast.Starred) for one in parts):
        return None
    return Growing(statement, target.id, parts[1], function, axes[0] if axes else None)


def check_on_host(draft: Draft, loop: ast.For) -> None:
    """Raises Refused if the loop may run under a transformation, where numbers cannot be fetched."""
    if draft.strict is None:
        return
    program, file = program_and_file(draft)
    function = function_around(file.same(loop), file)
    if function is None:
        return
    if isinstance(function, ast.Lambda) or function.decorator_list:
        raise Refused("a decorator may trace the function")
    calls = PossibleValues(program).call_sites.calls_of(function, file)
    if not calls or any(call is None or how for call, how, _ in calls):
        raise Refused("a transformation may call the function")


class _Rows:
    """The rewrite of one array."""

    def __init__(self, draft: Draft, loop: ast.For, growing: Growing) -> None:
        self.draft, self.site, self.loop, self.growing = draft, draft.site, loop, growing
        self.layout = Layout(draft.site)
        self.scope = draft.site.names.scope_at(loop)
        self.flow = Flow(draft.site.names, self.scope)
        self.rows = fresh_name(self.layout.identifiers(self.scope), f"{growing.name}_rows")

    def write(self) -> None:
        self._check()
        blocks = self._asking()
        layout, one = self.layout, self.growing
        join = self._join()
        indent = layout.indent(self.loop)
        unit = layout.unit(self.loop)
        start = self.site.span(self.loop)
        self._insert(start.line, start.column, f"{self.rows} = []{layout.newline}{indent}")
        value = layout.argument(one.value)
        self.draft.replace(self.site.span(one.statement), f"{self.rows}.append({value})")
        for block in blocks:
            first = self.site.span(block)
            inner = layout.indent(block)
            text = f"{layout.newline}{inner}".join(
                [f"if {self.rows}:", f"{unit}{join}", f"{unit}{self.rows} = []", ""]
            )
            self._insert(first.line, first.column, text)
        end = self.site.span(self.loop)
        after = f"{layout.newline}{indent}".join(["", f"if {self.rows}:", f"{unit}{join}"])
        self._insert(end.end_line, end.end_column, after)

    def _insert(self, line: int, column: int, text: str) -> None:
        self.draft.replace(Span(line, column, line, column), text)

    def _join(self) -> str:
        """The statement that concatenates the array and its rows."""
        one, layout = self.growing, self.layout
        at = one.statement
        assert isinstance(at.value, ast.Call)
        axis = layout.argument(one.axis) if one.axis is not None else ""
        host = reference(self.site, self.draft.imports, f"numpy.{_JOINS[one.function]}", at)
        fetch = reference(self.site, self.draft.imports, "jax.device_get", at)
        if one.function in ("append", "concatenate"):
            default = "None" if one.function == "append" else "0"
            rows = f"{host}({fetch}({self.rows}), axis={axis or default})"
        else:
            rows = f"{host}({fetch}({self.rows}))"
        given = [one.name, rows] if one.function == "append" else [f"[{one.name}, {rows}]"]
        given += [f"axis={axis}"] if axis else []
        return f"{one.name} = {self.site.text(at.value.func)}({', '.join(given)})"

    def _check(self) -> None:
        """Raises Refused if a list cannot replace the array."""
        one, loop = self.growing, self.loop
        if loop.orelse or any(
            isinstance(part, ast.Return | ast.Yield | ast.YieldFrom) for part in ast.walk(loop)
        ):
            raise Refused("the loop returns, yields or has an `else`")
        around = self.site.names.ancestors_below(loop, self.scope.node)
        if self.scope.is_class:
            raise Refused("the loop is in the body of a class")
        if any(isinstance(part, ast.Try | ast.With) for part in around):
            raise Refused("a handler or `with` around the loop could see the array before it is joined")
        if one.name in self.scope.redirected:
            raise Refused(f"`{one.name}` belongs to an outer scope")
        if not self.flow.is_bound_before(one.name, loop):
            raise Refused(f"`{one.name}` may have no value before the loop")
        if not is_alone(self.site, one.statement) or not isinstance(one.axis, ast.Constant | None):
            raise Refused("the statement shares its line with another, or its axis is computed")
        if "float16" in self.site.source.text:
            raise Refused("rows of 16 bits could change the dtype of the array")
        if one.name in {part.id for part in ast.walk(one.value) if isinstance(part, ast.Name)}:
            raise Refused(f"the rows added to `{one.name}` are computed from it")
        if self.draft.strict is not None:
            check_variables_hidden(self.draft, loop)
            program, file = program_and_file(self.draft)
            if PossibleValues(program).of(file.same(one.value), file) != {ARRAY}:
                raise Refused(f"the value added to `{one.name}` may not be an array")

    def _asking(self) -> list[ast.stmt]:
        """The first statements of the blocks in the loop that read the array. Raises Refused if each iteration reads it."""
        one, names = self.growing, self.site.names
        own = set(ast.walk(one.statement))
        found: dict[ast.stmt, None] = {}
        for use in names.uses_of(one.name, self.scope):
            if use.scope is not self.scope:
                raise Refused(f"a nested function reads `{one.name}`")
        for node in ast.walk(self.loop):
            if not isinstance(node, ast.Name) or node.id != one.name or node in own:
                continue
            if not isinstance(node.ctx, ast.Load):
                raise Refused(f"`{one.name}` is reassigned in the loop")
            found[self._block_of(node)] = None
        return list(found)

    def _block_of(self, node: ast.Name) -> ast.stmt:
        """The first statement of the `if` block, directly in the loop, that reads a variable."""
        around = [node, *self.site.names.ancestors_below(node, self.loop)]
        if any(isinstance(part, FUNCTIONS) for part in around):
            raise Refused("a nested function reads the array")
        top = around[-1]
        if not isinstance(top, ast.If) or len(around) < 2:
            raise Refused(f"each iteration reads `{self.growing.name}`")
        within = around[-2]
        for block in (top.body, top.orelse):
            if within in block:
                inside = {part for statement in block for part in ast.walk(statement)}
                if self.growing.statement in inside:
                    raise Refused(f"`{self.growing.name}` grows in the block that reads it")
                if block is top.orelse and len(block) == 1 and isinstance(block[0], ast.If):
                    break  # an `elif`
                if self.site.span(block[0]).line == self.site.span(top).line:
                    break  # on the line of the `if`
                return block[0]
        raise Refused(f"each iteration reads `{self.growing.name}`")
