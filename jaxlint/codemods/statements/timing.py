"""Rewrites of measurements: a wait for the device, a warm-up call, a monotonic clock."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.codemods.facts.dataflow import Flow
from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.facts.module_state import changed_by_call
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Span, Step

_WAIT = "jax.block_until_ready"
_CLOCKS = {"time.time": "time.perf_counter", "time.time_ns": "time.perf_counter_ns"}
# Expressions around a result for which waiting for the whole is waiting for the result.
_HOLDING = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp, ast.BinOp, ast.Starred)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)


@codemod("wait-before-clock")
def wait_before_clock(draft: Draft, step: Step) -> None:
    """The span is the call whose result nothing waits for; the parameter `clock` is the span of the reading that
    comes too early."""
    site = draft.site
    call, clock = site.find_ast(step.span, ast.expr), site.find_ast(_place(step, "clock"), ast.expr)
    parent = site.names.parents.get(call)
    assert isinstance(call, ast.expr)
    layout = Layout(site)
    if isinstance(parent, (ast.Expr, ast.Lambda)):
        wait = reference(site, draft.imports, _WAIT, call)
        draft.replace(site.span(call), f"{wait}({layout.argument(call)})")
        return
    reading = _statement(site, clock)
    parent = next((one for one in site.names.ancestors(call) if not isinstance(one, _HOLDING)), None)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        raise Refused("the result has no name to pass to `block_until_ready`")
    target = parent.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    if not parts or not all(map(_is_plain, parts)):
        raise Refused("the result is not assigned to variables")
    names = [site.text(part) for part in parts]
    if not isinstance(reading, _SIMPLE) or not _runs_before(site, parent, reading):
        raise Refused("the clock is not read right after the call")
    scope = site.names.scope_at(parent)
    for name in names:
        for binding in scope.bindings.get(name, ()):
            line = getattr(binding.node, "lineno", 0)
            if (parent.end_lineno or 0) < line <= reading.lineno:
                raise Refused(f"`{name}` is reassigned before the clock is read")
    wait = reference(site, draft.imports, _WAIT, reading)
    given = names[0] if len(names) == 1 else f"({', '.join(names)})"
    line = site.span(reading).line
    draft.insert(line, 1, f"{layout.indent(reading)}{wait}({given}){layout.newline}")


@codemod("call-before-clock")
def call_before_clock(draft: Draft, step: Step) -> None:
    """The span is the first call of a jitted function; the parameter `clock` is the span of the reading before it."""
    site = draft.site
    call, clock = site.find_ast(step.span, ast.Call), site.find_ast(_place(step, "clock"), ast.expr)
    assert isinstance(call, ast.Call)
    layout = Layout(site)
    reading, statement = _statement(site, clock), _statement(site, call)
    if not isinstance(reading, _SIMPLE) or not _runs_before(site, reading, statement):
        raise Refused("the timer does not start right before the call")
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        raise Refused("the function has no name; jit it before the timer starts")
    for part in [*call.args, *(keyword.value for keyword in call.keywords)]:
        check_expression(site, part, "an argument")
        if any(isinstance(inner, (ast.Call, ast.Starred)) for inner in ast.walk(part)):
            raise Refused("an argument is a call, which would run twice")
    if change := changed_by_call(site, call):
        raise Refused(f"the warm-up call {change.what}")
    text = layout.argument(call)
    if "\n" in text or "\r" in text:
        raise Refused("the call spans several lines")
    scope = site.names.scope_at(call)
    for name in Flow(site.names, scope).reads(call):
        for binding in scope.bindings.get(name, ()):
            line = getattr(binding.node, "lineno", 0)
            if reading.lineno <= line < statement.lineno:
                raise Refused(f"`{name}` is assigned between the start of the timer and the call")
    wait = reference(site, draft.imports, _WAIT, reading)
    line = site.span(reading).line
    draft.insert(line, 1, f"{layout.indent(reading)}{wait}({text})  # compiles{layout.newline}")


@codemod("forward-clock")
def forward_clock(draft: Draft, step: Step) -> None:
    """The span is a reading by `time.time`. It and the readings that it is compared with become `time.perf_counter`."""
    site = draft.site
    first = site.find_ast(step.span, ast.Call)
    assert isinstance(first, ast.Call)
    clock = site.names.qualified(first.func)
    if clock not in _CLOCKS:
        raise Refused("the clock returns a date, and differences of dates are not numbers")
    readings = _Readings(site, clock)
    readings.follow_call(first)
    for call in readings.calls:
        new = reference(site, draft.imports, _CLOCKS[clock], call)
        draft.replace(site.span(call.func), new)


class _Readings:
    """The readings of one clock that are subtracted from each other, directly or through variables."""

    def __init__(self, site: Site, clock: str) -> None:
        self.site, self.clock = site, clock
        self.calls: list[ast.Call] = []
        self.names: set[str] = set()

    def follow_call(self, call: ast.Call) -> None:
        if call in self.calls:
            return
        self.calls.append(call)
        parent = self.site.names.parents.get(call)
        if (
            isinstance(parent, ast.Assign)
            and len(parent.targets) == 1
            and isinstance(parent.targets[0], ast.Name)
        ):
            self.follow_name(parent.targets[0])
        else:
            self.follow_difference(call)

    def follow_name(self, node: ast.Name) -> None:
        if node.id in self.names:
            return
        self.names.add(node.id)
        scope = self.site.names.scope_at(node)
        home = scope.resolve(node.id)
        if home is None or home is not scope or node.id in scope.redirected:
            raise Refused(f"`{node.id}` belongs to an outer scope")
        for binding in home.bindings[node.id]:
            made = self.site.names.parents.get(binding.node)
            value = made.value if isinstance(made, ast.Assign) else None
            if not isinstance(value, ast.Call) or self.site.names.qualified(value.func) != self.clock:
                raise Refused(f"`{node.id}` holds other values than readings of this clock")
            self.follow_call(value)
        for use in self.site.names.uses_of(node.id, home):
            self.follow_difference(use.name)

    def follow_difference(self, node: ast.expr) -> None:
        parent = self.site.names.parents.get(node)
        if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, ast.Sub):
            raise Refused("a reading is used for more than differences, perhaps as the time of day")
        other = parent.right if parent.left is node else parent.left
        if isinstance(other, ast.Call) and self.site.names.qualified(other.func) == self.clock:
            self.follow_call(other)
        elif isinstance(other, ast.Name):
            self.follow_name(other)
        else:
            raise Refused("a reading is compared with something that is not a reading")


def _is_plain(node: ast.expr) -> bool:
    """A variable, or an attribute of a variable."""
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    )


def _place(step: Step, name: str) -> Span:
    values = step.parameters[name]
    assert isinstance(values, (list, tuple))
    return Span(*values)


def _statement(site: Site, node: ast.AST) -> ast.stmt:
    return next(one for one in (node, *site.names.ancestors(node)) if isinstance(one, ast.stmt))


def _runs_before(site: Site, first: ast.stmt, second: ast.stmt) -> bool:
    """Whether `second` follows `first`, or a loop around it, in one block."""
    block: Sequence[ast.stmt] = Flow(site.names, site.names.scope_at(second)).block(second)
    for one in (first, *site.names.ancestors(first)):
        if isinstance(one, ast.stmt) and one in block:
            return block.index(one) < block.index(second)
        if isinstance(one, (ast.If, ast.Try, ast.FunctionDef)):
            return False
    return False
